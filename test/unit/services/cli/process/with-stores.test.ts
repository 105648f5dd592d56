import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../../../../../services/cli/command.ts';
import { namingLocal, type Whose } from '../../../../../services/cli/process/with-stores.ts';
import { UnavailableError } from '../../../../../shared/runtime/errors.ts';

/** The error of a command that can't reach Redis, on a machine with local crawls. */
function saidOf(whose: Whose): Promise<never> {
  const outputDir = mkdtempSync(join(tmpdir(), 'trawl-stores-'));
  onTestFinished(() => rmSync(outputDir, { recursive: true }));
  writeFileSync(join(outputDir, 'trawl.sqlite'), '');
  return namingLocal({ settings: { outputDir } } as Context, whose, async () => {
    throw new UnavailableError("Redis can't be reached");
  });
}

test('a command that can’t reach Redis suggests --local', async () => {
  await expect(saidOf({})).rejects.toThrow(/reached\. For crawls on this machine: the same command with --local$/);
});

test('a command that can’t reach Redis does not suggest --local for a run that is not on this machine', async () => {
  await expect(saidOf({ run: 'shop' })).rejects.toThrow(/reached\. No crawl on this machine has the id shop either: /);
  await expect(saidOf({ run: 'shop', local: false })).rejects.toThrow(/reached$/);
});
