const exit: (code?: number) => never = process.exit.bind(process);

/**
 * Ends this process at once, whether or not {@link refuseExit} was called.
 *
 * @param code defaults to `process.exitCode`. Node.js overwrites that with any argument given, even `undefined`
 */
export function exitNow(code?: number): never {
  return code === undefined ? exit() : exit(code);
}

/**
 * Makes `process.exit` throw from now on. A crawler that calls it, as scripts do when they are done, would end the whole crawl as if
 * it had succeeded, or one worker after another.
 */
export function refuseExit(): void {
  process.exit = () => {
    throw new Error("a crawler can't end the process (process.exit): throw an error instead");
  };
}
