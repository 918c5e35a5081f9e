/** Words by which our client knows what has become of something. */

/** In refusals that are true for a moment: the same command is then looked at again. */
export const GIVE_IT_AGAIN = 'give it again';
export const SAY_IT_AGAIN = 'say it again';

/** How whatever has ended refuses a command. Our client then looks what it has done with it before. */
export const HAS_ENDED = 'has already ended';
/** The same of a flow. Our client then waits until it has closed, and asks its successor. */
export const ALREADY_ENDED = `the flow ${HAS_ENDED}`;

/** The reason of a credit or refund that another person has rejected. */
export function rejectedBecause({ who, why }: { who: string; why: string }): string {
  return `rejected by ${who}: ${why}`;
}
