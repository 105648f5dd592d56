import { expect, test } from 'vitest';
import { startAll, stopTogether } from '../../../../shared/runtime/lifecycle.ts';
import { settled } from '../../../support/stores/embedded.ts';

test('a service that takes long to stop does not delay stopping the others; all are waited for', async () => {
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

test('the error of a service that failed to start is thrown, whatever fails when the others are stopped', async () => {
  const stopped: string[] = [];
  const service = (name: string, starts: Promise<void>) => ({
    start: () => starts,
    stop: async () => {
      stopped.push(name);
      throw new Error(`${name} does not stop`);
    },
  });
  const disk = Promise.reject(new Error('the disk is full'));
  await expect(startAll([service('first', Promise.resolve()), service('second', disk)])).rejects.toThrow(
    'the disk is full',
  );
  expect(stopped).toEqual(['second', 'first']);
});
