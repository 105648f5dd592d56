import { describe, expect, onTestFinished, test } from 'vitest';
import type { DeadLetters, Transport } from '../../../shared/ports/transport.ts';
import { ids, message } from './transport.contract.ts';

/** A transport under test whose dead letters can be read. */
export interface OpenedLetters {
  readonly transport: Transport & DeadLetters;
  close(): Promise<void>;
}

/** The contract of reading and deleting dead letters. */
export function describeDeadLetters(name: string, open: () => Promise<OpenedLetters>): void {
  describe(`dead letters: ${name}`, () => {
    async function setup(): Promise<OpenedLetters> {
      const opened = await open();
      onTestFinished(() => opened.close());
      return opened;
    }

    test('dead letters can be read again and again', async () => {
      const { transport } = await setup();
      const letters = [message('failed'), message('failed'), message('failed')];
      expect(await transport.publish(letters)).toEqual(['confirmed', 'confirmed', 'confirmed']);
      expect(ids(await transport.browse(2))).toEqual(ids(letters).slice(0, 2));
      await expect.poll(async () => ids(await transport.browse(9))).toEqual(ids(letters));
      await expect.poll(async () => (await transport.depths()).failed.ready).toBe(3);
    });

    test('simultaneous readers each see all letters', async () => {
      const { transport } = await setup();
      const letters = Array.from({ length: 300 }, () => message('failed'));
      await transport.publish(letters);
      const looks = await Promise.all([1, 2, 3].map(() => transport.browse(999)));
      for (const look of looks) expect(ids(look).toSorted()).toEqual(ids(letters).toSorted());
    });

    test('picked letters are deleted, all others stay', async () => {
      const { transport } = await setup();
      const letters = Array.from({ length: 2_500 }, () => message('failed'));
      await transport.publish(letters);
      const shown: (string | undefined)[] = [];
      await transport.sift(async (some) => {
        shown.push(...ids(some));
        return some.map(({ id }) => (Number(id?.slice(2)) % 3 === 0 ? 'delete' : 'keep'));
      });
      expect(shown).toEqual(ids(letters));
      const kept = ids(letters).filter((id) => Number(id?.slice(2)) % 3 !== 0);
      expect((await transport.depths()).failed.ready, 'at once').toBe(kept.length);
      // `browse` holds all letters for a moment; the next call sees only those that the broker has taken back by then.
      await expect.poll(async () => ids(await transport.browse(9_999)).toSorted()).toEqual(kept.toSorted());
    });

    test('a sift that fails or is aborted deletes nothing more; letters that arrive during a sift are not shown', async () => {
      const { transport } = await setup();
      await transport.publish([message('failed'), message('failed')]);
      const failing = transport.sift(() => Promise.reject(new Error('no verdict')));
      await expect(failing).rejects.toThrow('no verdict');
      const stopped = AbortSignal.abort();
      await transport.sift(async (some) => some.map(() => 'delete'), stopped);
      await expect.poll(async () => (await transport.depths()).failed.ready).toBe(2);
      let seen = 0;
      await transport.sift(async (some) => {
        seen += some.length;
        await transport.publish([message('failed')]);
        return some.map(() => 'delete');
      });
      expect(seen).toBe(2);
      await expect.poll(async () => (await transport.browse(9)).length).toBe(1);
    });
  });
}
