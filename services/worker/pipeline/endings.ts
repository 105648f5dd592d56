import { FULL_NAP_MS } from '../../../shared/loops/repeated-offer.ts';
import { type Frontier, nameOf, type Settlement, type SettleReply } from '../../../shared/ports/frontier/frontier.ts';
import { MAX_SLOT_WAIT_MS } from '../../../shared/ports/host-gate.ts';
import type { DoneRecord, PageRecord } from '../../../shared/ports/record.ts';
import { RecordRefusedError, type Sink } from '../../../shared/ports/sink.ts';
import type { Handling } from '../../../shared/ports/transport.ts';
import { messageOf } from '../../../shared/runtime/errors.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import { type DeadLetteringOptions, publishDeadLetter } from '../dead-lettering.ts';
import type { OutcomeLog } from '../outcome-log.ts';
import { spent } from './fate.ts';
import { settlementOf, wayOf } from './settlements.ts';
import { type Ending, endedRecord, type Visit } from './visit.ts';

export interface EndingsOptions extends DeadLetteringOptions {
  readonly frontier: Frontier & DeadLetteringOptions['frontier'];
  readonly sink: Sink;
  /** Called when links were accepted, or when a join may be due. */
  readonly onOffered?: () => void;
  /** Called when the frontier has accepted an outcome. */
  readonly onSettled?: (outcome: Outcome['kind']) => void;
  /** Called when records can't be stored: the worker should stop consuming. */
  readonly onSinkFailure: (reason: string) => void;
}

/** Ends deliveries: their outcomes are recorded, dead-lettered and settled, in this order. */
export class Endings {
  readonly #options: EndingsOptions;
  readonly #outcomes: OutcomeLog;

  constructor(options: EndingsOptions, outcomes: OutcomeLog) {
    this.#options = options;
    this.#outcomes = outcomes;
  }

  /** Ends a task: records it, dead-letters it if it failed, settles it. */
  async over(visit: Visit, ending: Ending): Promise<Handling> {
    const { clock } = this.#options;
    const { outcome, status } = ending;
    if (outcome.kind === 'defer' && visit.release === 0) return 'return';
    const record = endedRecord(visit, ending, clock.now());
    if (record !== undefined && (await this.#store(record)) === 'failed') return await this.putBack(visit, 0);
    if (outcome.kind === 'failed' && !(await publishDeadLetter(visit, ending, this.#options)))
      return await this.putBack(visit, 0);
    await this.settle(visit, ending);
    const reason = 'reason' in outcome ? outcome.reason : outcome.kind === 'defer' ? outcome.host?.reason : undefined;
    const detail = 'detail' in outcome && outcome.detail !== `HTTP ${status}` ? outcome.detail : undefined;
    this.#outcomes.tell(visit.task, outcome.kind, { reason, status, error: detail });
    return 'ack';
  }

  /** Puts a task back. Its host, and every task that waits for it, waits at least `hostFreeInMs`. */
  async putBack(visit: Visit, hostFreeInMs: number): Promise<Handling> {
    const { clock, signal } = this.#options;
    if (visit.release === 0) {
      // Without a ledger it is redelivered at once, so the wait must be here.
      await clock.sleep(Math.min(hostFreeInMs, MAX_SLOT_WAIT_MS), signal);
      return 'return';
    }
    return await this.#defer(visit, { outcome: { kind: 'defer' }, hostFreeInMs });
  }

  /** Puts a task back whose links were refused by a full frontier. */
  async withoutRoom(visit: Visit, refused: NonNullable<Settlement['refused']>): Promise<Handling> {
    return await this.#defer(visit, { outcome: { kind: 'defer', inMs: FULL_NAP_MS }, refused });
  }

  async #defer(visit: Visit, settlement: Settlement): Promise<Handling> {
    const { frontier, onSettled } = this.#options;
    await frontier.settle(visit.task.run, nameOf(visit), { ...settlement, ...wayOf(spent(visit)) });
    onSettled?.('defer');
    return 'ack';
  }

  /** Tells the frontier the outcome. Does nothing for a run that the store has lost. */
  async settle(visit: Visit, ending: Ending, bytes = 0): Promise<SettleReply | undefined> {
    if (visit.release === 0) return undefined;
    const { frontier, clock, onOffered, onSettled } = this.#options;
    const settlement = settlementOf(visit, ending, bytes, clock.now());
    const reply = await frontier.settle(visit.task.run, nameOf(visit), settlement);
    onSettled?.(reply === 'settled' ? ending.outcome.kind : 'defer');
    // This task may have been the last that a join waited for.
    if (visit.run.options.joins !== undefined) onOffered?.();
    return reply;
  }

  /**
   * Stores a record. Returns `undefined` if that worked. A refused record fails its task, and one that can't be stored now puts it back;
   * the handling of the delivery is then returned.
   */
  async unlessStored(
    visit: Visit,
    record: DoneRecord | RecordRefusedError,
    about: Omit<Ending, 'outcome'> = {},
  ): Promise<Handling | undefined> {
    const stored = record instanceof RecordRefusedError ? record : await this.#store(record);
    if (stored === 'stored') return undefined;
    if (stored === 'failed') return await this.putBack(visit, 0);
    const { reason, message: detail } = stored;
    return await this.over(visit, { ...about, outcome: { kind: 'failed', reason, detail } });
  }

  /** Stores a record. Returns `failed` if the sink could not, after telling the worker. */
  async #store(record: PageRecord): Promise<'stored' | 'failed' | RecordRefusedError> {
    try {
      await this.#options.sink.put(record);
      return 'stored';
    } catch (error: unknown) {
      if (error instanceof RecordRefusedError) return error;
      this.#options.onSinkFailure(messageOf(error));
      return 'failed';
    }
  }
}
