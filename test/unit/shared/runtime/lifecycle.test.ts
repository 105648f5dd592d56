import { expect, test } from 'vitest';
import { stopTogether } from '../../../../shared/runtime/lifecycle.ts';
import { settled } from '../../../support/stores/embedded.ts';

test('a service that takes long to stop keeps no other from being told; all are waited for', async () => {
  const slow = Promise.withResolvers<void>();
  const told: string[] = [];
  const service = (name: string, stops: Promise<void>) => ({
    stop: () => {
      told.push(name);
      return stops;
    },
  });
  let isOver = false;
  const stopping = stopTogether([
    service('slow', slow.promise),
    service('broken', Promise.reject(new Error('broken'))),
    service('quick', Promise.resolve()),
  ]).finally(() => {
    isOver = true;
  });
  stopping.catch(() => {});
  await settled();
  expect([told, isOver]).toEqual([['slow', 'broken', 'quick'], false]);
  slow.resolve();
  await expect(stopping).rejects.toThrow('broken');
});
