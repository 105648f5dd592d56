import type { Parser } from './parsers.ts';

/** What a setting is about: a command shows the groups that it uses. */
export type SettingGroup = 'run' | 'fetch' | 'worker' | 'fleet' | 'metrics' | 'output' | 'api' | 'log';

/** One row of {@link SETTINGS}. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** The flag, without its dashes. */
  readonly flag: string;
  readonly group: SettingGroup;
  readonly parse: Parser<T>;
  /** As a user would write it; empty if there is no default. */
  readonly default: string;
  readonly help: string;
  /** Never shown. */
  readonly secret: boolean;
}

interface Extra {
  readonly flag?: string;
  readonly secret?: boolean;
}

/** Makes a row. Its flag follows from its name, unless it has another. */
export function setting<T>(
  group: SettingGroup,
  name: string,
  parse: Parser<T>,
  fallback: string,
  help: string,
  { flag = name.toLowerCase().replaceAll('_', '-'), secret = false }: Extra = {},
): Setting<T> {
  return { name, flag, group, parse, default: fallback, help, secret };
}
