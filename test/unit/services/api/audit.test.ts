import { expect, test } from 'vitest';
import type { Audit } from '../../../../services/api/audit.ts';
import { openApi } from './setup.ts';

type AuditPage = Awaited<ReturnType<Audit['newest']>>;

test('entries added between two pages of the audit shift none', async () => {
  const { ask } = await openApi();
  await ask('/api/runs', { body: { run: 'r1', seeds: [] } });
  const pause = (reason: string) => ask('/api/runs/r1/pause', { body: { reason } });
  for (const reason of ['a', 'b', 'c', 'd']) await pause(reason);
  const pages: string[][] = [];
  for (let next: number | null = 0; next !== null; ) {
    const answer: AuditPage = (await ask(`/api/audit?limit=2&cursor=${next}`)).json;
    pages.push(answer.entries.map(({ reason }) => reason ?? 'open'));
    next = answer.next;
    await pause(`later ${pages.length}`);
  }
  expect(pages).toEqual([['d', 'c'], ['b', 'a'], ['open']]);
});

test('a change is in the audit whatever its reason contains', async () => {
  const { ask } = await openApi();
  await ask('/api/runs', { body: { run: 'r1', seeds: [] } });
  const reason = 'two\u2028lines\u2029\u0085\r\nand "more"';
  expect((await ask('/api/runs/r1/pause', { body: { reason } })).status).toBe(200);
  const { entries } = (await ask('/api/audit')).json;
  expect(entries).toMatchObject([{ action: 'pause run', reason }, { action: 'open run' }]);
});

test('what was refused, or only tried, is not in the audit, nor are credentials', async () => {
  const { ask } = await openApi();
  expect((await ask('/api/runs/nix/pause', { body: {} })).status).toBe(404);
  expect((await ask('/api/forget', { body: { url: 'http://u:secret@a.test/', dryRun: true } })).status).toBe(200);
  expect((await ask('/api/audit')).json.entries).toEqual([]);
  expect((await ask('/api/forget', { body: { url: 'http://u:secret@a.test/' } })).status).toBe(200);
  expect((await ask('/api/audit')).json.entries).toMatchObject([{ target: 'http://a.test/' }]);
});
