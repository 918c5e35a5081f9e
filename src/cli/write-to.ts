import type { Writable } from 'node:stream';

/**
 * Writes to a stream whose reader may leave early (`| head`): what is written then is dropped. The command goes on, since
 * it may be amid a file of payments, and ends with its own exit code.
 */
export function writeTo(stream: Writable): (text: string) => void {
  let isLeft = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    isLeft = true;
  });
  return (text) => void (isLeft || stream.write(text));
}
