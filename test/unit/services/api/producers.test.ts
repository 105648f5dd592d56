import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Producers } from '../../../../services/api/producers.ts';
import { ConfigurationError } from '../../../../shared/runtime/errors.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';

test('a fetcher that could not be opened is opened once the cause is fixed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-producers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'headers.json');
  const settings = settingsFrom({ flag: {}, environment: { HOST_HEADERS: file }, file: {} });
  // It asks nothing else of what the API has.
  const producers = new Producers({ settings, log: silentLog } as ConstructorParameters<typeof Producers>[0]);
  await expect(producers.fetcher()).rejects.toThrow(ConfigurationError);
  await writeFile(file, '{}');
  expect(await producers.fetcher()).toBe(await producers.fetcher());
  await producers.stop();
});
