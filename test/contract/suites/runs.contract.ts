import { afterAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../support/stores/stores.ts';
import { OPTIONS, page, setupOf } from './frontier/frontier-setup.ts';

/** The contract of runs: how they are opened, lost, sealed and joined. */
export function describeRuns(name: string, open: OpenStore, close: () => Promise<void> = async () => {}): void {
  describe(`runs: ${name}`, () => {
    afterAll(close);
    const setup = setupOf(open);

    test('a finished run takes nothing until it is opened again', async () => {
      const { frontier, runs } = await setup();
      await runs.seal('r', 'p');
      expect(await frontier.offer('r', [page(1)])).toEqual({ refused: 'run' });
      expect(await runs.open('r', OPTIONS, 'p2')).toMatchObject({ how: 'reopened' });
      expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 1, known: 0 });
      expect(await runs.progress('r')).toMatchObject({ state: 'running', sealed: false });
    });

    test('a lost producer does not seal its run; sealing by hand does', async () => {
      const { runs, step } = await setup();
      step(61_000);
      expect(await runs.progress('r')).toMatchObject({ state: 'running', producers: { open: 0, lost: 1 } });
      await runs.seal('r');
      expect(await runs.progress('r')).toMatchObject({ state: 'finished' });
    });

    test('a lost producer is forgotten once another one has read the same input to its end', async () => {
      const { runs, step } = await setup();
      await runs.seal('r', 'p');
      for (const lost of ['one', 'two']) await runs.open('r', OPTIONS, lost, { input: 'a sitemap' });
      await runs.open('r', OPTIONS, 'alive', { input: 'a sitemap' });
      step(59_000);
      await runs.beat('r', 'alive');
      step(2_000);
      for (const [guest, input] of [['guest', 'another'], ['unknown']] as const) {
        await runs.open('r', OPTIONS, guest, { input });
        expect((await runs.progress('r'))?.producers).toMatchObject({ open: 2, lost: 2 });
        await runs.seal('r', guest);
      }
      await runs.open('r', OPTIONS, 'heir', { input: 'a sitemap' });
      expect((await runs.progress('r'))?.producers).toMatchObject({ open: 2, lost: 2 });
      await runs.seal('r', 'heir');
      expect((await runs.progress('r'))?.producers).toMatchObject({ open: 1, lost: 0 });
      await runs.seal('r', 'alive');
      expect(await runs.progress('r')).toMatchObject({ state: 'finished' });
    });

    test('a lost producer without a known input is waited for until somebody seals its run', async () => {
      const { runs, step } = await setup();
      step(61_000);
      await runs.open('r', OPTIONS, 'heir', { input: 'a sitemap' });
      await runs.seal('r', 'heir');
      await runs.open('r', OPTIONS, 'unknown');
      await runs.seal('r', 'unknown');
      expect(await runs.progress('r')).toMatchObject({ state: 'running', producers: { open: 0, lost: 1 } });
      await runs.seal('r');
      expect(await runs.progress('r')).toMatchObject({ state: 'finished' });
    });

    test('an incarnation that the store has lost cannot be opened, offered to or sealed', async () => {
      const { frontier, runs } = await setup();
      const { incarnation } = await runs.open('r', OPTIONS, 'p');
      expect((await runs.progress('r'))?.incarnation).toBe(incarnation);
      expect(await runs.open('r', OPTIONS, 'p', { incarnation })).toMatchObject({ how: 'joined', incarnation });
      expect(await frontier.offer('r', [page(1)], { incarnation })).toEqual({ accepted: 1, known: 0 });
      const lost = { incarnation: 'an earlier one' };
      expect(await runs.open('r', OPTIONS, 'other', lost)).toMatchObject({ how: 'lost' });
      expect(await runs.open('r', OPTIONS, 'other', { ...lost, mayRestore: true })).toMatchObject({ how: 'lost' });
      expect(await frontier.offer('r', [page(2)], lost)).toEqual({ refused: 'run' });
      expect(await runs.seal('r', 'p', 'an earlier one')).toBeUndefined();
      expect(await runs.progress('r')).toMatchObject({ sealed: false, discovered: 1, producers: { open: 1 } });
      expect(await runs.seal('r', 'p', incarnation)).toEqual({ was: 'running', is: 'running' });
      expect(await runs.open('gone', OPTIONS, 'p', lost)).toMatchObject({ how: 'lost' });
      expect(await runs.progress('gone')).toBeUndefined();
    });

    test('a run that was lost just after it was created can be restored under its incarnation', async () => {
      const { frontier, runs } = await setup();
      const lost = { incarnation: 'just created' };
      expect(await runs.open('gone', OPTIONS, 'p', { ...lost, mayRestore: true })).toMatchObject({
        how: 'created',
        ...lost,
      });
      expect(await frontier.offer('gone', [page(1)], lost)).toEqual({ accepted: 1, known: 0 });
      expect(await runs.open('gone', OPTIONS, 'p', lost)).toMatchObject({ how: 'joined', ...lost });
    });

    test('every created run has its own incarnation', async () => {
      const { runs } = await setup();
      const opened = await Promise.all(['a', 'b', 'r'].map((run) => runs.open(run, OPTIONS, 'q')));
      expect(new Set(opened.map(({ incarnation }) => incarnation)).size).toBe(3);
    });

    test('joining a run keeps its own options', async () => {
      const { runs } = await setup({ maxAttempts: 7 });
      expect(await runs.open('r', OPTIONS, 'p2')).toMatchObject({ how: 'joined', options: { maxAttempts: 7 } });
      expect(await runs.list(5)).toEqual(['r']);
    });
  });
}
