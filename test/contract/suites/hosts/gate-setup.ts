import { onTestFinished } from 'vitest';
import type { Grant, HostLimit } from '../../../../shared/ports/host-gate.ts';
import type { OpenStore, Store } from '../../../support/stores/stores.ts';

export const UNLIMITED: HostLimit = { intervalMs: 0, concurrency: 0 };
export const ROOM = { limit: 200, window: 1_000, unpaced: false };

export function every(intervalMs: number): HostLimit {
  return { intervalMs, concurrency: 0 };
}

export function atMost(concurrency: number, intervalMs = 0): HostLimit {
  return { intervalMs, concurrency };
}

export function granted(inMs: number): Grant {
  return { granted: true, inMs };
}

export function refused(because: 'pace' | 'concurrency' | 'pause', inMs: number): Grant {
  return { granted: false, inMs, because };
}

/** A store for one test, with a shorthand for asking its gate. */
interface Asked extends Store {
  ask(limit: HostLimit, holder?: string, host?: string): Promise<Grant>;
}

export function gateSetupOf(open: OpenStore): () => Promise<Asked> {
  return async () => {
    const store = await open({ hostConcurrency: 0 });
    onTestFinished(() => store.close());
    let requests = 0;
    return {
      ...store,
      ask: (limit, holder = `request ${++requests}`, host = 'a.test') => store.gate.ask(host, limit, holder),
    };
  };
}
