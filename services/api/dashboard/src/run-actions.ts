import { count, counted } from '../../../../shared/control/format.ts';
import type { Run } from './api/answers.ts';
import { ask, pathOf } from './api/client.ts';
import { commandLine, flag } from './command-line.ts';
import type { Action } from './parts/action.tsx';

/** Returns the actions that a run's state allows, in the order of their buttons. */
export function actionsOf(run: Run): readonly Action[] {
  const isOpen = run.state === 'running' || run.state === 'paused';
  if (!isOpen) return [];
  const isResumable = run.state === 'paused' || run.stoppedAt !== undefined;
  return [isResumable ? resume(run) : pause(run), ...(run.sealed === false ? [seal(run)] : []), cancel(run)];
}

function pause({ run }: Run): Action {
  return {
    title: `Pause run ${run}?`,
    verb: 'Pause',
    place: 'pause',
    meaning: 'Nothing more of it is released. Tasks in flight are finished or put back.',
    asksReason: true,
    command: ({ reason }) => commandLine('pause', run, ...flag('--reason', reason)),
    run: ({ reason }) => steer(run, 'pause', reason),
  };
}

function resume({ run, stoppedAt }: Run): Action {
  return {
    title: `Resume run ${run}?`,
    verb: 'Resume',
    place: 'pause',
    asksReason: true,
    // A stopped run needs a process.
    command: () => (stoppedAt === undefined ? commandLine('resume', run) : commandLine('crawl', '--resume', run)),
    run: ({ reason }) => steer(run, 'resume', reason),
  };
}

function seal({ run, producers }: Run): Action {
  const lost = producers?.lost ?? 0;
  return {
    title: `Seal run ${run}?`,
    verb: 'Seal',
    meaning: `No more seeds will come${lost > 0 ? `: ${counted(lost, 'lost producer')} won't be waited for` : ''}. The run ends once nothing waits.`,
    asksReason: true,
    command: () => commandLine('seal', run),
    run: ({ reason }) => steer(run, 'seal', reason),
  };
}

function cancel({ run, waiting, inFlight }: Run): Action {
  return {
    title: `Cancel run ${run}?`,
    verb: 'Cancel run',
    label: 'Cancel',
    isFinal: true,
    meaning: 'This is final. Later runs can take its URLs.',
    // Asks for the run's present state; the page's might be old.
    count: async () => {
      const now = await ask<Run>('GET', pathOf('api/runs', run)).catch(() => ({ waiting, inFlight }));
      return `${counted(now.waiting, 'waiting URL')} will be dropped; ${count(now.inFlight)} in flight are finished or dropped as they come.`;
    },
    asksReason: true,
    command: () => commandLine('cancel', run),
    run: ({ reason }) => steer(run, 'cancel', reason),
  };
}

/** Returns the action that delivers the run's webhook again. */
export function replayWebhook(run: string): Action {
  return {
    title: `Send the webhook of run ${run} again?`,
    verb: 'Send again',
    needs: 'submit',
    command: () =>
      `curl -X POST -H "Authorization: Bearer $TOKEN" ${new URL(pathOf('api/runs', run, 'webhook', 'replay'), location.href)}`,
    run: async () => {
      await ask('POST', pathOf('api/runs', run, 'webhook', 'replay'));
      return 'It will be sent again.';
    },
  };
}

async function steer(
  run: string,
  verb: 'pause' | 'resume' | 'cancel' | 'seal',
  reason: string | undefined,
): Promise<string> {
  const { was, is } = await ask<{ was: string; is: string }>('POST', pathOf('api/runs', run, verb), { reason });
  if (verb === 'seal') return `Run ${run} is sealed${is === 'finished' ? ', and has finished' : ''}.`;
  return was === is ? `Run ${run} was ${was} already.` : `Run ${run}: ${was} → ${is}.`;
}
