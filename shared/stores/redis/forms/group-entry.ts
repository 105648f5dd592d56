import type { GroupInputs } from '../../../ports/frontier/groups.ts';
import { partsOf } from '../../../task/parts.ts';

/** Reads the answer of `inputs.lua`. */
export function readInputs([large, failed, skipped, cancelled, ...pairs]: readonly (string | number)[]):
  | GroupInputs
  | 'stale' {
  if (large === undefined) return 'stale';
  const inputs: Record<string, string> = {};
  const missing: [number, GroupInputs['firstMissing'][number]][] = [];
  for (const pair of partsOf(pairs, 2)) {
    const [field = '', value = ''] = pair.map(String);
    // The owner's own fields.
    if (field.startsWith('@')) continue;
    if (field.startsWith('!')) missing.push([Number(field.slice(1)), readMissing(value)]);
    else inputs[field] = value;
  }
  const counts = Object.entries({ failed, skipped, cancelled }).filter(([, count]) => Number(count) > 0);
  return {
    inputs,
    isTooLarge: large === 1,
    missing: Object.fromEntries(counts.map(([outcome, count]) => [outcome, Number(count)])),
    firstMissing: missing.sort(([a], [b]) => a - b).map(([, each]) => each),
  };
}

/** `<outcome> <reason>`, a tab, and the mark. */
function readMissing(text: string): GroupInputs['firstMissing'][number] {
  const [head = '', mark = ''] = text.split('\t');
  const [outcome = '', reason = ''] = head.split(' ');
  return { mark, outcome, reason };
}
