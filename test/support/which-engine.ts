/** Tests of whole flows run on the simulation by default, and on real processes and servers with `HOLDFAST_ENGINE=real`. */
export function isSimulated(): boolean {
  return process.env['HOLDFAST_ENGINE'] !== 'real';
}
