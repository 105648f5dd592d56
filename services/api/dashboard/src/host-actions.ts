import { counted } from '../../../../shared/control/format.ts';
import { ask, pathOf } from './api/client.ts';
import { commandLine, flag } from './command-line.ts';
import type { Action } from './parts/action.tsx';

interface SteerableHost {
  readonly host: string;
  readonly isPaused: boolean | undefined;
}

/** Returns the actions for a host. If its state is not known, both pausing and resuming are offered. */
export function hostActions({ host, isPaused }: SteerableHost): readonly Action[] {
  if (isPaused === undefined) return [pause(host), { ...resumeHost(host), place: 'resume' }, limit(host)];
  return [isPaused ? resumeHost(host) : pause(host), limit(host)];
}

export function pauseFleet(): Action {
  return {
    title: 'Pause all runs?',
    verb: 'Pause all',
    meaning: 'Nothing more is released. Tasks in flight are finished or put back.',
    asksReason: true,
    command: ({ reason }) => commandLine('pause', '--all', ...flag('--reason', reason)),
    run: ({ reason }) => steerFleet('pause', reason),
  };
}

export function resumeFleet(): Action {
  return {
    title: 'Resume all runs?',
    verb: 'Resume all',
    meaning: 'Including runs that were paused one by one.',
    asksReason: true,
    command: () => commandLine('resume', '--all'),
    run: ({ reason }) => steerFleet('resume', reason),
  };
}

function pause(host: string): Action {
  return {
    title: `Pause host ${host}?`,
    verb: 'Pause',
    place: 'pause',
    meaning: 'No run asks it for anything until it is resumed.',
    asksReason: true,
    command: ({ reason }) => commandLine('pause', '--host', host, ...flag('--reason', reason)),
    run: async ({ reason }) => {
      await ask('POST', pathOf('api/hosts', host, 'pause'), { reason });
      return `Host ${host} is paused.`;
    },
  };
}

/** Returns the action that ends a host's pause. */
export function resumeHost(host: string): Action {
  return {
    title: `Resume host ${host}?`,
    verb: 'Resume',
    place: 'pause',
    meaning: 'Ends its pause, even one that the host itself asked for.',
    asksReason: true,
    command: () => commandLine('resume', '--host', host),
    run: async ({ reason }) => {
      await ask('POST', pathOf('api/hosts', host, 'resume'), { reason });
      return `Host ${host} is asked again.`;
    },
  };
}

function limit(host: string): Action {
  return {
    title: `Limit host ${host}`,
    verb: 'Limit',
    meaning: 'Applies to all runs. If a run has a slower rate, that one counts.',
    asks: { label: 'Rate', hint: '2/s, 60/min, 100/h, or none to remove the limit' },
    asksReason: true,
    command: ({ value }) => commandLine('limit', host, value === '' ? 'RATE' : value),
    run: async ({ value, reason }) => {
      await ask('PUT', pathOf('api/hosts', host, 'limit'), { rate: value, reason });
      return value === 'none' ? `Host ${host} has no limit of its own.` : `Host ${host} is limited to ${value}.`;
    },
  };
}

async function steerFleet(verb: 'pause' | 'resume', reason: string | undefined): Promise<string> {
  const { runs } = await ask<{ runs: readonly unknown[] }>('POST', pathOf('api/fleet', verb), { reason });
  return `${counted(runs.length, 'run')} ${verb === 'pause' ? 'paused' : 'resumed'}.`;
}
