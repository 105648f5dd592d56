import { isMentioned } from '../../shared/crawler/loading/crawler-files.ts';
import { type UnknownName, unknownInEnvFile } from '../../shared/settings/settings.ts';
import type { Settings } from '../../shared/settings/table.ts';

/** What to say of the names in `.env` that nothing reads: no setting, and no secret of a crawler. */
export function unknownTexts({ crawlersDir, crawler }: Settings): string[] {
  return unknownInEnvFile()
    .filter(({ name }) => !isMentioned(name, crawlersDir, crawler))
    .map(unknownText);
}

function unknownText({ name, nearest }: UnknownName): string {
  return `.env: ${name} is no setting${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
