import type { Parser } from './parsers.ts';

/** The subject of a setting. A command accepts the settings of the groups it uses. */
export type SettingGroup = 'run' | 'fetch' | 'worker' | 'fleet' | 'metrics' | 'output' | 'api' | 'log';

/** One row of {@link SETTINGS}. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** The flag, without its dashes. */
  readonly flag: string;
  readonly group: SettingGroup;
  readonly parse: Parser<T>;
  /** As a user would write it; empty if the setting has no default. */
  readonly default: string;
  readonly help: string;
  /** Is its value kept out of messages and logs? */
  readonly secret: boolean;
}

interface Extra {
  readonly flag?: string;
  readonly secret?: boolean;
}

/** Makes a row. The flag is derived from the name unless one is given. */
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
