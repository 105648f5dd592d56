import { count, counted } from '../../../../shared/control/format.ts';
import { ask } from './api/client.ts';
import { commandLine } from './command-line.ts';
import type { Action } from './parts/action.tsx';
import { shortened } from './visible.ts';

interface Forgotten {
  readonly forgotten: number;
  readonly kept: number;
  readonly letters?: number;
}

/** Returns the action that drops the marks of a URL. */
export function forgetUrl(url: string): Action {
  const meaning = `Runs can then take ${shortened(url)} again.`;
  return forget('Forget this URL?', meaning, { url }, [url]);
}

/** Returns the action that drops the marks of a host. */
export function forgetHost(host: string): Action {
  return forget(`Forget host ${host}?`, 'Runs can then take its URLs again.', { host }, ['--host', host]);
}

/** Returns the action that drops all marks. */
export function forgetAll(): Action {
  return forget('Forget all URLs?', 'Any run can then take any URL again.', { all: true }, ['--all']);
}

function forget(title: string, meaning: string, which: object, words: readonly string[]): Action {
  return {
    title,
    verb: 'Forget',
    isFinal: true,
    meaning,
    asksReason: true,
    count: async () => {
      const { forgotten, kept, letters = 0 } = await ask<Forgotten>('POST', 'api/forget', { ...which, dryRun: true });
      const stay = kept === 0 ? '' : ` ${count(kept)} stay: their URLs wait or are in flight.`;
      return `${counted(forgotten, 'mark')} will be forgotten${lettersText(letters)}.${stay}`;
    },
    command: () => commandLine('forget', ...words),
    run: async ({ reason }) => {
      const { forgotten, kept, letters = 0 } = await ask<Forgotten>('POST', 'api/forget', { ...which, reason });
      return `${counted(forgotten, 'mark')} forgotten${lettersText(letters)}${kept > 0 ? `; ${count(kept)} stay` : ''}.`;
    },
  };
}

/** Returns the part of a sentence about dead letters, which are deleted with the marks they belong to. */
function lettersText(letters: number): string {
  return letters === 0 ? '' : `, and ${counted(letters, 'dead letter')} deleted`;
}
