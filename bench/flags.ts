const args = process.argv.slice(2);

/** The value of a flag of the command line: the word behind it. */
export function textOf(flag: string): string | undefined {
  return args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
}

/** The same as a number. */
export function numberOf(flag: string, otherwise: number): number {
  const value = textOf(flag);
  return value === undefined ? otherwise : Number(value);
}
