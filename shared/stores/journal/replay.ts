import type { Beginning } from '../../ports/journal.ts';
import { taskOf } from '../../task/task/form.ts';
import { FAILED_REASONS, SKIPPED_REASONS } from '../../task/task/outcome.ts';
import { QUEUES } from '../../task/task/routing.ts';
import { hostOfMark } from '../../task/url/fingerprint.ts';
import { newIncarnation } from '../incarnation.ts';
import { type EndOutcome, type MemoryRun, type MemoryStore, type StoredTask, storedTask } from '../memory/store.ts';
import { Credits } from './credits.ts';
import { NONE } from './lines.ts';
import { type JournalLine, LineProblem, quoted, readBeginning, readInteger, readText, readWord } from './reading.ts';

/** A session's last lines may not have reached the disk: it gave numbers for some time after the last that is known of it. */
const UNKNOWN_MS = 60_000;

/** A task that has not ended, and what is to be known of it until the replay is over. */
interface LiveTask {
  readonly task: StoredTask;
  /** 0 for a seed. */
  readonly parent: number;
  notBefore: number;
}

/** What a journal has to know to be written on. */
export interface Replayed {
  readonly beginning: Beginning;
  readonly begunAt: number;
  /** Had all producers offered all they had? */
  readonly isSealed: boolean;
  readonly credits: Credits;
  /** Tasks so far, which is the number of the last one. */
  readonly tasks: number;
  readonly sessions: number;
  /** Milliseconds worked in earlier sessions. */
  readonly workedMs: number;
}

/**
 * Reads a run back from its journal into a store: feed it every line, then {@link finish} it. What was in flight waits
 * again; attempts, throttles and the time of a retry are kept.
 */
export class Replay {
  readonly #store: MemoryStore;
  readonly #live = new Map<number, LiveTask>();
  readonly #credits = new Credits();
  /** What seeds gave since the last producer was done: if none was after it, they are read again. */
  #ofSeeds: string[] = [];
  #run: MemoryRun | undefined;
  #beginning: Beginning | undefined;
  #begunAt = 0;
  #tasks = 0;
  #sessions = 0;
  #workedMs = 0;
  /** The latest time that is known of, after the beginning. */
  #lastMs = 0;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  read(line: JournalLine): void {
    if (this.#run === undefined) this.#begin(line);
    else this.#readMore(this.#run, line.fields);
  }

  /** Puts what is left to do where it waits, as of now. */
  finish(now: number): Replayed {
    const [run, beginning] = [this.#run, this.#beginning];
    if (run === undefined || beginning === undefined) throw new LineProblem('it is empty');
    this.#buryProducers(run);
    const isSealed = run.completed > 0;
    if (!isSealed) this.#credits.grant(0, this.#ofSeeds);
    for (const { task, notBefore } of this.#live.values()) {
      if (notBefore > now && run.state !== 'cancelled') this.#store.retry(run, task, notBefore);
      else this.#store.putBack(run, task, now, true);
    }
    // As if it had been at work without a break.
    run.startedAt = now - this.#workedMs;
    // Higher than all that were given, also when the clock was set back since.
    run.releases = (this.#begunAt + this.#lastMs + UNKNOWN_MS) * 1_000;
    this.#store.openRuns.add(run.id);
    this.#store.finishIfDone(run, now);
    return {
      beginning,
      isSealed,
      credits: this.#credits,
      begunAt: this.#begunAt,
      tasks: this.#tasks,
      sessions: this.#sessions,
      workedMs: this.#workedMs,
    };
  }

  #begin(line: JournalLine): void {
    const { beginning, begunAt } = readBeginning(line);
    this.#beginning = beginning;
    this.#begunAt = begunAt;
    this.#run = this.#store.createRun(beginning.run, beginning.options, begunAt, newIncarnation());
  }

  #readMore(run: MemoryRun, fields: readonly string[]): void {
    const [kind, first, second] = fields;
    switch (kind) {
      case 'task':
      case 'text':
        this.#readTask(run, fields);
        break;
      case 'done':
      case 'skipped':
      case 'failed':
        this.#readEnd(run, kind, fields);
        break;
      case 'retry': {
        const live = this.#liveTask(first);
        run.bytes += readInteger(second);
        live.task.attempts++;
        live.notBefore = this.#begunAt + readInteger(fields[3]);
        break;
      }
      case 'throttled':
        this.#liveTask(first).task.throttles++;
        break;
      case 'claimed':
        this.#store.claim(run, this.#liveTask(first).task.mark, readText(second));
        break;
      case 'open':
        run.producers.set(readText(first), { till: 0 });
        break;
      case 'sealed':
        if (first === NONE) run.producers.clear();
        else if (!run.producers.delete(readText(first))) throw new LineProblem(`no producer ${quoted(first)} is open`);
        run.completed++;
        run.duplicate += readInteger(second);
        this.#ofSeeds = [];
        break;
      case 'state':
        run.state = readWord(first, ['running', 'paused', 'cancelled']);
        if (run.state === 'cancelled') run.producers.clear();
        break;
      case 'session':
        this.#buryProducers(run);
        this.#sessions = readInteger(first);
        this.#workedMs = readInteger(fields[6]);
        this.#lastMs = Math.max(this.#lastMs, readInteger(second));
        break;
      case 'synced':
        this.#lastMs += Math.max(0, readInteger(second) - this.#workedMs);
        this.#workedMs = readInteger(second);
        break;
      default:
        throw new LineProblem(`it begins with ${quoted(kind)}, which is no kind of line`);
    }
  }

  /** Producers die with their process: what they had not offered yet is missing, and another has to offer it. */
  #buryProducers(run: MemoryRun): void {
    if (run.producers.size > 0) run.completed = 0;
    run.producers.clear();
  }

  #readTask(run: MemoryRun, fields: readonly string[]): void {
    const number = readInteger(fields[1]);
    if (number !== this.#tasks + 1) throw new LineProblem(`expected task ${this.#tasks + 1}, got ${number}`);
    const parent = fields[0] === 'task' ? readInteger(fields[2]) : 0;
    const task = fields[0] === 'task' ? this.#taskIn(run.id, fields) : this.#textIn(fields);
    task.number = number;
    this.#tasks = number;
    this.#live.set(number, { task, parent, notBefore: 0 });
    this.#store.marksOf(run).add(task.mark);
    run.discovered++;
    if (parent === 0) this.#ofSeeds.push(task.mark);
    else if (this.#live.has(parent)) this.#credits.grant(parent, [task.mark]);
  }

  #taskIn(run: string, [, , , queue, age, deadline, host = NONE, text, form = '']: readonly string[]): StoredTask {
    const mark = readText(text);
    const task = taskOf(form, {
      run,
      host: host === NONE ? hostOfMark(mark) : host,
      queue: readWord(queue, QUEUES),
      mark,
    });
    if (task === undefined) throw new LineProblem(`expected the form of a task, got ${quoted(form)}`);
    const deadlineMs = deadline === NONE ? {} : { deadlineMs: readInteger(deadline) };
    const { run: _, ...offer } = task;
    return storedTask({ ...offer, ...deadlineMs }, this.#begunAt + readInteger(age));
  }

  #textIn([, , age, text, problem]: readonly string[]): StoredTask {
    try {
      const offer = { malformed: String(JSON.parse(readText(text))), problem: String(JSON.parse(readText(problem))) };
      return storedTask(offer, this.#begunAt + readInteger(age));
    } catch (error: unknown) {
      throw error instanceof LineProblem ? error : new LineProblem(`expected JSON, got ${quoted(text)}`);
    }
  }

  #liveTask(text: string | undefined): LiveTask {
    const live = this.#live.get(readInteger(text));
    if (live === undefined) throw new LineProblem(`no task ${text} is under way`);
    return live;
  }

  #readEnd(run: MemoryRun, kind: EndOutcome['kind'], fields: readonly string[]): void {
    const [, number, bytes, known, reason, saved = '0'] = fields;
    const { task } = this.#liveTask(number);
    run.bytes += readInteger(bytes);
    run.duplicate += readInteger(known);
    run.bytesSaved += readInteger(saved);
    if (kind === 'done') this.#store.end(run, task, { kind });
    else if (kind === 'skipped') this.#store.end(run, task, { kind, reason: readWord(reason, SKIPPED_REASONS) });
    else this.#store.end(run, task, { kind, reason: readWord(reason, FAILED_REASONS) });
    this.#live.delete(task.number);
    // What its links may find known is counted.
    this.#credits.drop(task.number);
  }
}
