import type { ReleaseName, Settlement } from '../../../ports/frontier.ts';
import { formOf } from '../../../task/task/form.ts';
import type { Task } from '../../../task/task/task.ts';
import { LEAD_MS, THROTTLES_BEFORE_TAIL } from '../../policy.ts';
import { forgetNotes, keepNote } from './attempt-notes.ts';
import { HostHealth, probeOf } from './host-health.ts';
import { type Moves, optionsOf } from './moves.ts';
import type { RunRow } from './run-rows.ts';
import type { TaskRow } from './task-rows.ts';

/** The settles of one call. */
export class Settling {
  readonly #moves: Moves;

  constructor(moves: Moves) {
    this.#moves = moves;
  }

  settle(id: string, name: ReleaseName, settlement: Settlement): 'settled' | 'already' {
    const run = this.#moves.run(id);
    const task = this.#moves.flight(run, name);
    if (run === undefined || task === undefined) return 'already';
    const { now } = this.#moves;
    const { moved, hostAnswered, attempt, bytes = 0, outcome, hostFreeInMs = 0, leftOut } = settlement;
    this.#moves.land(run);
    if (moved !== undefined) this.#move(run, task, moved);
    const health = new HostHealth(this.#moves, task.host);
    if (hostAnswered === undefined) health.drop(probeOf(id, name.release));
    else {
      this.#noteTrouble(run, task.host, hostAnswered);
      health.hear(optionsOf(run).intervalMs, settlement);
    }
    if (attempt !== undefined) keepNote(this.#moves, task.mark, attempt);
    run.bytes += bytes;
    run.leftOutDepth += leftOut?.depth ?? 0;
    run.leftOutScope += leftOut?.scope ?? 0;
    run.leftOutCondition += leftOut?.condition ?? 0;
    if (outcome.kind === 'retry' || hostAnswered !== undefined) task.starts = 0;
    // Put back before its host was asked: its unused start is taken back.
    else if (task.worker !== null) task.starts = Math.max(0, task.starts - 1);
    this.#apply(run, task, settlement);
    if (outcome.kind === 'defer' && outcome.host !== undefined) health.pause(outcome.host);
    // Release itself knows about pauses, and when the host will have been in trouble for too long.
    const isPaused = this.#moves.host(task.host).pausedUntil > now;
    const own = this.#moves.runHost(run, task.host);
    if (hostFreeInMs > LEAD_MS && !isPaused && own.readyAt !== null)
      this.#moves.postponeHost(run, own, now + Math.round(hostFreeInMs) - LEAD_MS);
    this.#moves.finishIfDone(run);
    return 'settled';
  }

  #apply(run: RunRow, task: TaskRow, { outcome, page, bytes = 0 }: Settlement): void {
    const { now, recrawl } = this.#moves;
    switch (outcome.kind) {
      case 'done':
      case 'skipped':
      case 'failed':
        this.#moves.end(run, task, outcome, {
          bytes,
          bytesSaved: outcome.kind === 'failed' ? 0 : (page?.bytesSaved ?? 0),
        });
        // Most tasks have no failed attempts.
        if (outcome.kind === 'done' && task.attempts + task.throttles > 0) forgetNotes(this.#moves, task.mark);
        if (outcome.kind === 'failed' || page === undefined) break;
        recrawl.remember({ n: run.n, options: optionsOf(run) }, task.mark, page, now);
        run.bytesSaved += page.bytesSaved;
        break;
      case 'retry':
        if (run.state === 'cancelled') {
          this.#moves.countCancelled(run, task);
        } else {
          task.attempts++;
          this.#moves.retry(run, task, now + Math.round(outcome.inMs));
        }
        break;
      case 'defer': {
        const { host, inMs = 0, throttled = false } = outcome;
        if (host !== undefined || throttled) task.throttles++;
        if (inMs > 0 && run.state !== 'cancelled') {
          this.#moves.retry(run, task, now + Math.round(inMs));
          break;
        }
        // Did the host mean all pages, or only this one? Other tasks are to find that out.
        const isUnclear = host !== undefined && host.pauseMs === undefined;
        this.#moves.putBack(run, task, isUnclear || task.throttles >= THROTTLES_BEFORE_TAIL);
      }
    }
  }

  /** Moves a task to where a redirect led; the host that it waited at has answered. */
  #move(run: RunRow, task: TaskRow, moved: Task): void {
    if (moved.host !== task.host) {
      this.#noteTrouble(run, task.host, true);
      new HostHealth(this.#moves, task.host).hear(optionsOf(run).intervalMs, { hostAnswered: true });
    }
    task.host = moved.host;
    task.form = formOf(moved);
  }

  #noteTrouble(run: RunRow, name: string, answered: boolean): void {
    const host = this.#moves.runHost(run, name);
    if (answered) host.troubleSince = null;
    else host.troubleSince ??= this.#moves.now;
    host.troubleLast = answered ? null : this.#moves.now;
  }
}
