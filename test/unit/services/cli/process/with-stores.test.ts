import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../../../../../services/cli/command.ts';
import { namingLocal, type Whose } from '../../../../../services/cli/process/with-stores.ts';
import { UnavailableError } from '../../../../../shared/runtime/errors.ts';

/** What a command says that finds no Redis, on a machine that has crawled by itself. */
function saidOf(whose: Whose): Promise<never> {
  const outputDir = mkdtempSync(join(tmpdir(), 'trawl-stores-'));
  onTestFinished(() => rmSync(outputDir, { recursive: true }));
  writeFileSync(join(outputDir, 'trawl.sqlite'), '');
  return namingLocal({ settings: { outputDir } } as Context, whose, async () => {
    throw new UnavailableError("Redis can't be reached");
  });
}

test('without services, a command is told how crawls of this machine are meant', async () => {
  await expect(saidOf({})).rejects.toThrow(/reached\. For crawls on this machine: the same command with --local$/);
});

test('of a run that this machine has not, no command is named that would not find it either', async () => {
  await expect(saidOf({ run: 'shop' })).rejects.toThrow(/reached\. No crawl on this machine has the id shop either: /);
  await expect(saidOf({ run: 'shop', local: false })).rejects.toThrow(/reached$/);
});
