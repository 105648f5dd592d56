import type { ReleaseName, Settlement, SettleReply } from '../../../ports/frontier/frontier.ts';
import { isMember } from '../../../task/group/plan.ts';
import { SILENT_PAUSE_MS } from '../../../task/host/host-trouble.ts';
import { formOf } from '../../../task/task/form.ts';
import type { Outcome } from '../../../task/task/outcome.ts';
import type { Task } from '../../../task/task/task.ts';
import { LEAD_MS, THROTTLES_BEFORE_TAIL } from '../../policy.ts';
import { keepNote } from './attempt-notes.ts';
import { HostHealth, probeOf } from './host-health.ts';
import type { Moves } from './moves.ts';
import type { RunRow } from './rows/run-rows.ts';
import { heldOf, type TaskRow } from './rows/task-rows.ts';
import { optionsOf } from './run-options.ts';
import { countStepFailure } from './step-failures.ts';
import { NO_TROUBLE, noteHealth } from './troubles.ts';

/** Settles the deliveries of one call. */
export class Settling {
  readonly #moves: Moves;

  constructor(moves: Moves) {
    this.#moves = moves;
  }

  settle(id: string, name: ReleaseName, settlement: Settlement): SettleReply {
    const run = this.#moves.run(id);
    const task = this.#moves.flight(run, name);
    if (run === undefined || task === undefined) return 'already';
    const { now } = this.#moves;
    const { moved, hostAnswered, hostTrouble, attempt, bytes = 0, hostFreeInMs = 0, leftOut, tally } = settlement;
    const isLacking =
      settlement.outcome.kind === 'done' && tally !== undefined && heldOf(task, tally.stamp) < tally.links;
    const outcome: Outcome = isLacking ? { kind: 'defer' } : settlement.outcome;
    this.#moves.land(run);
    if (moved !== undefined) this.#move(run, task, moved);
    const health = new HostHealth(this.#moves, task.host);
    const isSilent = noteHealth(this.#moves.runHost(run, task.host), settlement, now);
    if (hostAnswered === undefined || hostTrouble?.kind === 'outage') health.drop(probeOf(id, name.release));
    else health.hear(optionsOf(run).intervalMs, settlement, { isSilent, isAgain: task.attempts > 0 });
    if (hostTrouble?.pauseMs !== undefined && !isSilent)
      health.pause({ pauseMs: hostTrouble.pauseMs, reason: hostTrouble.reason });
    if (attempt !== undefined) keepNote(this.#moves, task.mark, attempt);
    if (attempt !== undefined && outcome.kind === 'failed') countStepFailure(this.#moves.database, run.n, attempt);
    run.bytes += bytes;
    run.leftOutDepth += leftOut?.depth ?? 0;
    run.leftOutScope += leftOut?.scope ?? 0;
    // No worker remembers which of these it has reported before, so they count only when the page ends.
    if (!isLacking) run.leftOutCondition += leftOut?.condition ?? 0;
    if (outcome.kind === 'retry' || hostAnswered !== undefined) task.starts = 0;
    // Put back before its host was asked: its unused start is taken back.
    else if (task.worker !== null) task.starts = Math.max(0, task.starts - 1);
    this.#apply(run, task, { ...settlement, outcome }, isSilent);
    if (outcome.kind === 'defer' && outcome.host !== undefined) health.pause(outcome.host);
    // A paused host needs no postponing: release knows when the pause ends, and when the host will have been in trouble for too long.
    const isPaused = this.#moves.host(task.host).pausedUntil > now;
    const own = this.#moves.runHost(run, task.host);
    if (hostFreeInMs > LEAD_MS && !isPaused && own.readyAt !== null)
      this.#moves.postponeHost(run, own, now + Math.round(hostFreeInMs) - LEAD_MS);
    this.#moves.finishIfDone(run);
    return isLacking ? 'put_back' : 'settled';
  }

  #apply(
    run: RunRow,
    task: TaskRow,
    { outcome, page, bytes = 0, input, claimed }: Settlement,
    isSilent: boolean,
  ): void {
    const { now, recrawl } = this.#moves;
    switch (outcome.kind) {
      case 'done':
      case 'skipped':
      case 'failed':
        // A store that lost its last second may have lost the claim.
        if (outcome.kind === 'done' && claimed !== undefined && !this.#moves.isTaken(run, claimed))
          this.#moves.claim(run, task, claimed);
        this.#moves.end(
          run,
          task,
          outcome,
          {
            bytes,
            bytesSaved: outcome.kind === 'failed' ? 0 : (page?.bytesSaved ?? 0),
          },
          { input, claimed },
        );
        if (outcome.kind === 'failed' || page === undefined || isMember(task)) break;
        recrawl.remember(run, task.mark, page, now);
        run.bytesSaved += page.bytesSaved;
        break;
      case 'retry':
        if (run.state === 'cancelled') {
          this.#moves.countCancelled(run, task);
        } else {
          task.attempts++;
          this.#moves.retry(run, task, now + delayMs(outcome.inMs, isSilent));
        }
        break;
      case 'defer': {
        const { host, inMs = 0, throttled = false } = outcome;
        if (host !== undefined || throttled) task.throttles++;
        if (inMs > 0 && run.state !== 'cancelled') {
          this.#moves.retry(run, task, now + delayMs(inMs, isSilent));
          break;
        }
        // Did the host mean all pages or only this one? Other tasks will show.
        const isUnclear = host !== undefined && host.pauseMs === undefined;
        this.#moves.putBack(run, task, isUnclear || task.throttles >= THROTTLES_BEFORE_TAIL);
      }
    }
  }

  /** Moves a task to where a redirect led; the host that it waited for has answered. */
  #move(run: RunRow, task: TaskRow, moved: Task): void {
    const before = this.#moves.runHost(run, task.host);
    before.hasAnswered = 1;
    if (moved.host !== task.host) {
      Object.assign(before, NO_TROUBLE);
      new HostHealth(this.#moves, task.host).hear(optionsOf(run).intervalMs, { hostAnswered: true });
    }
    task.host = moved.host;
    task.form = formOf(moved);
  }
}

/** All tasks of a silent host wait for the host, not each for its own next attempt. */
function delayMs(inMs: number, isSilent: boolean): number {
  return Math.min(Math.round(inMs), isSilent ? SILENT_PAUSE_MS : Number.POSITIVE_INFINITY);
}
