import { expect, test } from 'vitest';
import { taskLines, workerLines } from '../../../../../services/cli/text/worker-lines.ts';
import type { LiveWorker } from '../../../../../shared/ports/roster.ts';

const WORKER: LiveWorker = {
  ...{ id: 'w-1', host: 'm', version: '1', slots: 4, inHand: 2, bound: 'slots', state: 'consuming', silentMs: 0 },
  tasks: [
    { run: 'r1', url: 'http://a.test/1', step: '', forMs: 2_000 },
    { run: 'r1', url: 'http://a.test/2', step: 'product', forMs: 500 },
  ],
};

test('the tasks of all workers are listed, longest in hand first', () => {
  const other = { ...WORKER, id: 'w-2', tasks: [{ run: 'r2', url: 'http://b.test/', step: '', forMs: 100_000 }] };
  expect(taskLines([WORKER, other])).toEqual([
    'Longest in hand:',
    '  1 min 40 s  w-2  r2                http://b.test/',
    '  2.0 s       w-1  r1                http://a.test/1',
    '  0.5 s       w-1  r1, step product  http://a.test/2',
  ]);
});

test('workers without tasks, or of a version that does not list them, give no lines', () => {
  const { tasks: _, ...older } = WORKER;
  expect(taskLines([{ ...WORKER, tasks: [] }, older])).toEqual([]);
});

test('at most twenty tasks are listed', () => {
  const many = Array.from({ length: 30 }, (_, n) => ({ ...WORKER, id: `w-${n}` }));
  expect(taskLines(many)).toHaveLength(21);
});

test('status lists twenty of many workers, those that take no deliveries first, and counts the others', () => {
  const many = Array.from({ length: 500 }, (_, n) => ({ ...WORKER, id: `w-${n}` }));
  const stopping = { ...WORKER, id: 'late', state: 'stopping' as const };
  const lines = workerLines([...many, stopping], { isShort: true });
  expect(lines).toHaveLength(22);
  expect([lines[0], lines[1], lines.at(-1)]).toEqual([
    'Workers: 501',
    '  late  stopping   2 of 4 in hand  bound by slots',
    expect.stringMatching(/^ {2}… and 481 more: .* workers$/),
  ]);
  expect(workerLines([...many, stopping]), 'by `trawl workers`').toHaveLength(502);
});

test('a worker that has had nothing in hand for a while is called idle, not bound by politeness', () => {
  const progress = { settledMsAgo: 60_000, unsettledMs: 0, stuckAfterMs: 1_000 };
  const idle = { ...WORKER, inHand: 0, bound: 'politeness' as const, progress };
  expect(workerLines([idle])[1]).toBe('  w-1  consuming  0 of 4 in hand  idle: no host is due');
  const justDone = { ...idle, progress: { ...progress, settledMsAgo: 100 } };
  expect(workerLines([justDone])[1]).toContain('bound by politeness');
  expect(workerLines([{ ...idle, bound: 'network' }])[1], 'another shortage').toContain('bound by network');
});
