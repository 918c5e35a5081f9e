/**
 * Stands in a body of API version 1.0.0 for a decimal that is no whole number of minor units, until the
 * schema has judged it: no answer where flows decide by that amount, left out where nobody does. A fee of
 * 0.3625 USD in a field that is new must not turn a known charge into an unknown one.
 */
export class UnreadableAmount {
  constructor(readonly reason: string) {}
}
