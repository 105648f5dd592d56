import { ConfigurationError } from '../../../../shared/runtime/errors.ts';
import { type Sources, settingsFrom } from '../../../../shared/settings/settings.ts';

/** The settings that these sources give. */
export function read(sources: Partial<Sources>) {
  return settingsFrom({ flag: {}, environment: {}, file: {}, ...sources });
}

/** What is wrong with them. */
export function problemsOf(sources: Partial<Sources>): readonly string[] {
  try {
    read(sources);
  } catch (error: unknown) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
