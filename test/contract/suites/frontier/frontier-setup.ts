import { onTestFinished } from 'vitest';
import type { Offer, Release } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import type { OpenStore, Store } from '../../../support/stores/stores.ts';

/** Options of a run that shares its marks with other runs. */
export const OPTIONS: RunOptions = { ...FAST_RUN, dedup: 'ever' };
/** A release with more room than the contract ever needs. */
export const ROOM = { limit: 200, window: 1_000, unpaced: false };

/** Opens stores, each with a run `r` that a producer `p` has opened. */
export function setupOf(open: OpenStore) {
  return async (options: Partial<RunOptions> = {}, policy: Parameters<OpenStore>[0] = {}): Promise<Store> => {
    const store = await open(policy);
    onTestFinished(() => store.close());
    await store.runs.open('r', { ...OPTIONS, ...options }, 'p');
    return store;
  };
}

export function page(
  n: number | string,
  host = 'a.test',
  extra: { deadlineMs?: number; queue?: 'priority' } = {},
): Offer {
  const url = `http://${host}/${n}`;
  return { url, mark: url, host, step: '', depth: 0, queue: 'normal', ...extra };
}

export function pages(from: number, to: number, host?: string): Offer[] {
  return Array.from({ length: to - from + 1 }, (_, i) => page(from + i, host));
}

export function urls({ tasks }: Release): string[] {
  return tasks.map(({ task }) => task.url.replace('http://', ''));
}

export function releases({ tasks }: Release): number[] {
  return tasks.map(({ release }) => release);
}
