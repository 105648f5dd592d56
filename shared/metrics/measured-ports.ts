import { FetchError, type Fetcher, type OpenDocument } from '../ports/fetcher.ts';
import type { Frontier, Settlement, SettleReply } from '../ports/frontier/frontier.ts';
import type { HandOvers } from '../ports/frontier/queued-leases.ts';
import type { HostGate } from '../ports/host-gate.ts';
import { fetchOutcomeOf, type Observer, type Stage, type StageObserver } from '../ports/observer.ts';
import type { Sink } from '../ports/sink.ts';
import type { Transport } from '../ports/transport.ts';
import { overridden } from './overridden.ts';

/** The observer that measured ports report to. */
export type PortObserver = Observer & StageObserver;

/** Runs a call and reports how long it took, even if it failed. */
async function timed<T>(
  observer: PortObserver,
  [store, operation, stage]: readonly [store: string, operation: string, stage?: Stage | undefined],
  call: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  if (stage !== undefined) observer.entered(stage);
  try {
    return await call();
  } finally {
    if (stage !== undefined) observer.left(stage);
    observer.storeCalled(store, operation, performance.now() - began);
  }
}

/** Wraps a frontier: its calls are timed, and its settles, releases and lapsed leases are counted. */
export function measuredFrontier<F extends Frontier & HandOvers>(
  frontier: F,
  store: string,
  observer: PortObserver,
): F {
  const own: Frontier & HandOvers = frontier;
  const methods: Partial<Frontier & HandOvers> = {
    offer: (run, tasks, options) => {
      const stage = options?.parent === undefined ? undefined : 'offer';
      return timed(observer, [store, 'offer', stage], () => own.offer(run, tasks, options));
    },
    release: async (options) => {
      const released = await timed(observer, [store, 'release'], () => own.release(options));
      if (released.tasks.length > 0) observer.released(released.tasks.length);
      return released;
    },
    queued: (run, releases) => timed(observer, [store, 'queued'], () => own.queued(run, releases)),
    admit: (run, release, worker) => timed(observer, [store, 'admit', 'admit'], () => own.admit(run, release, worker)),
    renew: (run, releases) => timed(observer, [store, 'renew'], () => own.renew(run, releases)),
    settle: async (run, release, settlement) => {
      const reply = await timed(observer, [store, 'settle', 'settle'], () => own.settle(run, release, settlement));
      countSettled(observer, reply, settlement);
      return reply;
    },
    fail: async (run, releases, reason) => {
      await timed(observer, [store, 'fail'], () => own.fail(run, releases, reason));
      observer.settled('failed', reason, releases.length);
    },
    reap: async () => {
      const lapsed = await timed(observer, [store, 'reap'], () => own.reap());
      if (lapsed > 0) observer.lapsed(lapsed);
      return lapsed;
    },
    drain: () => timed(observer, [store, 'drain'], () => own.drain()),
    handed: (run, releases) => timed(observer, [store, 'handed'], () => own.handed(run, releases)),
  };
  return overridden(frontier, methods as Partial<F>);
}

/** Counts a settle. One that came too late changed nothing and isn't counted; one whose task was put back counts as `defer`. */
function countSettled(observer: Observer, reply: SettleReply, { outcome }: Settlement): void {
  if (reply === 'already') return;
  if (reply === 'put_back') observer.settled('defer', '', 1);
  else observer.settled(outcome.kind, 'reason' in outcome ? outcome.reason : '', 1);
}

/** Wraps a gate: the two calls that each page makes are timed. */
export function measuredGate(gate: HostGate, store: string, observer: PortObserver): HostGate {
  return overridden(gate, {
    ask: (...asked) => timed(observer, [store, 'gate_ask'], () => gate.ask(...asked)),
    leave: (...left) => timed(observer, [store, 'gate_leave'], () => gate.leave(...left)),
  });
}

/** Wraps a transport: its publishing is timed. */
export function measuredTransport<T extends Transport>(transport: T, store: string, observer: PortObserver): T {
  const own: Transport = transport;
  const methods: Partial<Transport> = {
    publish: (messages) => timed(observer, [store, 'publish'], () => own.publish(messages)),
  };
  return overridden(transport, methods as Partial<T>);
}

/** Wraps a sink: its records are counted and timed. */
export function measuredSink(sink: Sink, name: string, observer: PortObserver): Sink {
  return overridden(sink, {
    put: async (record) => {
      await timed(observer, [name, 'put', 'record'], () => sink.put(record));
      observer.recordWritten(name);
    },
  });
}

/** Wraps a fetcher: its requests are timed and the bytes it receives are counted. */
export function measuredFetcher<F extends Fetcher>(fetcher: F, observer: PortObserver): F {
  const own: Fetcher = fetcher;
  const failed = (error: unknown, began: number): void => {
    if (error instanceof FetchError) observer.fetched(error.reason, performance.now() - began);
  };
  const methods: Partial<Fetcher> = {
    fetch: async (request) => {
      const began = performance.now();
      observer.entered('fetch');
      try {
        const page = await own.fetch(request);
        observer.fetched(fetchOutcomeOf(page.status), page.durationMs);
        observer.received(page.body.byteLength);
        return page;
      } catch (error: unknown) {
        failed(error, began);
        throw error;
      } finally {
        observer.left('fetch');
      }
    },
    open: async (request) => {
      const began = performance.now();
      try {
        const document = await own.open(request);
        observer.fetched(fetchOutcomeOf(document.status), performance.now() - began);
        return { ...document, body: countedBody(document.body, observer) };
      } catch (error: unknown) {
        failed(error, began);
        throw error;
      }
    },
  };
  return overridden(fetcher, methods as Partial<F>);
}

/** Wraps a body: its bytes are counted as they are read. */
function countedBody(body: OpenDocument['body'], observer: Observer): OpenDocument['body'] {
  return {
    destroy: () => body.destroy(),
    async *[Symbol.asyncIterator]() {
      for await (const chunk of body) {
        observer.received(chunk.byteLength);
        yield chunk;
      }
    },
  };
}
