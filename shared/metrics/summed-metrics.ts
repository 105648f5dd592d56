import type { ChildProcess } from 'node:child_process';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import type { Service } from '../runtime/lifecycle.ts';

/** The metrics of one process, as it reports them. */
type Said = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Message from the parent process: asks a child for its metrics. */
interface Question {
  readonly metrics: 'asked';
  readonly question: number;
}
/** The child's answer. */
interface Answer {
  readonly metrics: Said;
  readonly question: number;
}

/** A process that takes longer to answer is busy or stuck: its last answer is used. */
const ANSWER_WITHIN_MS = 2_000;

/** Reports the metrics of this process to the process that started it, when asked. */
export class AnsweringProcess implements Service {
  readonly #registry: Registry;
  readonly #onMessage = (message: unknown): void => void this.#answer(message);

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  async start(): Promise<void> {
    process.on('message', this.#onMessage);
    // Listening for questions must not keep the process alive.
    process.channel?.unref();
  }

  async stop(): Promise<void> {
    process.off('message', this.#onMessage);
  }

  async #answer(message: unknown): Promise<void> {
    if (!isQuestion(message)) return;
    const answer: Answer = { metrics: await this.#registry.getMetricsAsJSON(), question: message.question };
    // If the parent is gone, nobody needs the answer.
    if (process.connected) process.send?.(answer, undefined, undefined, () => {});
  }
}

/**
 * Sums the metrics of several processes. Counters never go back: those of a process that has ended still count.
 */
export class SummedMetrics {
  readonly #processes = new Map<ChildProcess, Said>();
  /** Counters of processes that have ended. */
  #past: Said = [];
  #questions = 0;

  /** Includes a process until it ends. */
  add(child: ChildProcess): void {
    this.#processes.set(child, []);
    child.once('exit', () => {
      const said = this.#processes.get(child) ?? [];
      this.#processes.delete(child);
      this.#past = sum([this.#past, said.filter(isCounted)]);
    });
  }

  /** Asks all processes and returns the sums in the Prometheus text format. */
  async read(): Promise<string> {
    const question = ++this.#questions;
    await Promise.all(
      [...this.#processes.keys()].map(async (child) => {
        const said = await ask(child, question);
        if (said !== undefined && this.#processes.has(child)) this.#processes.set(child, said);
      }),
    );
    return await aggregated([this.#past, ...this.#processes.values()]).metrics();
  }
}

async function ask(child: ChildProcess, question: number): Promise<Said | undefined> {
  if (!child.connected) return undefined;
  return await new Promise((resolve) => {
    const end = (said?: Said): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(said);
    };
    const onExit = (): void => end();
    const onMessage = (message: unknown): void => {
      if (isAnswer(message) && message.question === question) end(message.metrics);
    };
    const timer = setTimeout(end, ANSWER_WITHIN_MS);
    child.on('message', onMessage).once('exit', onExit);
    const asked: Question = { metrics: 'asked', question };
    child.send(asked, (error) => (error === null ? undefined : end()));
  });
}

/** Does a metric count events, rather than describe a current state? */
function isCounted({ type }: Said[number]): boolean {
  return String(type) === 'counter' || String(type) === 'histogram';
}

function sum(all: readonly Said[]): Said {
  const summed: Said[number][] = [];
  for (const metric of aggregated(all).getMetricsAsArray()) {
    const said = (metric as unknown as { get(): Said[number] }).get();
    summed.push(said);
  }
  return summed;
}

function aggregated(all: readonly Said[]): Registry {
  return AggregatorRegistry.aggregate(all.map((said) => [...said]));
}

function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'metrics' in message && message.metrics === 'asked';
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'metrics' in message && Array.isArray(message.metrics);
}
