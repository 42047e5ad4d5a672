/** Ends the run with a problem, which is put together only then. */
export function expect(isTrue: boolean, problem: string | (() => string)): asserts isTrue {
  if (!isTrue) throw new Error(typeof problem === 'string' ? problem : problem());
}
