const exit: (code?: number) => never = process.exit.bind(process);

/**
 * Ends this process at once, whether or not {@link refuseExit} was called.
 *
 * @param code left out: `process.exitCode`, which Node.js sets to any that is given, also to `undefined`
 */
export function exitNow(code?: number): never {
  return code === undefined ? exit() : exit(code);
}

/**
 * From now on `process.exit` throws: a crawler that calls it, as a script does when it is done, would end the whole crawl as if it had
 * succeeded, or one worker after another.
 */
export function refuseExit(): void {
  process.exit = () => {
    throw new Error("a crawler can't end the process (process.exit): throw an error instead");
  };
}
