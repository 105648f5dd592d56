import { isMentioned } from '../../shared/crawler/loading/crawler-files.ts';
import { oddInEnvFile, type UnknownName, unknownInEnvFile } from '../../shared/settings/settings.ts';
import type { Settings } from '../../shared/settings/table.ts';

/** What to say of what nothing reads in `.env`: lines that are no assignments, and names of no setting and no secret of a crawler. */
export function unknownTexts({ crawlersDir, crawler }: Settings): string[] {
  const unknown = unknownInEnvFile().filter(({ name }) => !isMentioned(name, crawlersDir, crawler));
  return [...oddInEnvFile(), ...unknown.map(unknownText)];
}

function unknownText({ name, nearest }: UnknownName): string {
  return `.env: ${name} is no setting${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
