import { isMentioned } from '../../shared/crawler/loading/crawler-files.ts';
import { oddInEnvFile, type UnknownName, unknownInEnvFile } from '../../shared/settings/settings.ts';
import type { Settings } from '../../shared/settings/table.ts';

/**
 * Returns warnings about the parts of `.env` that nothing reads: lines that are not assignments, and names that belong neither to a setting
 * nor to a secret of a crawler.
 */
export function unknownTexts({ crawlersDir, crawler }: Settings): string[] {
  const unknown = unknownInEnvFile().filter(({ name }) => !isMentioned(name, crawlersDir, crawler));
  return [...oddInEnvFile(), ...unknown.map(unknownText)];
}

function unknownText({ name, nearest }: UnknownName): string {
  return `.env: ${name} is not a setting${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
