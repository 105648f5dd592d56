import { expect, test } from 'vitest';
import { PendingRecords } from '../../../../../services/worker/concurrency/pending-records.ts';
import type { PageRecord } from '../../../../../shared/ports/record.ts';
import type { Sink } from '../../../../../shared/ports/sink.ts';

test('the longest wait is that of the oldest record neither stored nor refused yet', async () => {
  const answers: PromiseWithResolvers<void>[] = [];
  const sink: Sink = {
    put: () => {
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
    start: async () => {},
    stop: async () => {},
  };
  const records = new PendingRecords();
  let stored = 0;
  const counted = records.countedBy(sink, () => void stored++);
  expect(records.longestMs).toBe(0);
  const first = counted.put({} as PageRecord);
  await expect.poll(() => records.longestMs).toBeGreaterThan(20);
  const second = counted.put({} as PageRecord);
  const longestMs = records.longestMs;
  answers[0]?.reject(new Error('refused'));
  await expect(first).rejects.toThrow('refused');
  expect(records.longestMs).toBeLessThan(longestMs);
  expect(stored).toBe(0);
  answers[1]?.resolve();
  await second;
  expect([records.longestMs, stored]).toEqual([0, 1]);
});
