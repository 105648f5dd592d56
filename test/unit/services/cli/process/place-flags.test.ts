import { expect, test } from 'vitest';
import { recordsFlags } from '../../../../../services/cli/process/place-flags.ts';
import { readSettings } from '../../../../../shared/settings/settings.ts';

const WITH_PASSWORD = 'postgres://me:hunter22@db.test/pages';

// biome-ignore format: a table
test.each([
  [{},                                                  ''],
  [{ OUTPUT_DIR: './my pages' },                        " --output-dir './my pages'"],
  [{ SINK: 'jsonl' },                                   ' --sink jsonl'],
  [{ SINK: 'postgres://db.test/pages' },                ' --sink postgres://db.test/pages'],
  [{ SINK: WITH_PASSWORD },                             " --sink postgres://me:PASSWORD@db.test/pages"],
  [{ SINK: 'postgres:///pages?password=hunter22' },     " --sink 'postgres:///pages?password=PASSWORD'"],
  [{ OUTPUT_DIR: 'out', SINK: WITH_PASSWORD },          " --output-dir out --sink postgres://me:PASSWORD@db.test/pages"],
])('records after a command with the flags %o need%s', (flags, needed) => {
  expect(recordsFlags({ flags, settings: readSettings(flags) })).toBe(needed);
});

test('records of a resumed run need --sink if it began with another sink than the environment names', () => {
  const settings = readSettings({});
  expect(recordsFlags({ flags: {}, settings }, WITH_PASSWORD)).toBe(' --sink postgres://me:PASSWORD@db.test/pages');
  expect(recordsFlags({ flags: {}, settings }, settings.sink)).toBe('');
});
