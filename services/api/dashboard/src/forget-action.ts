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

/** Drops the marks of a URL. */
export function forgetUrl(url: string): Action {
  const meaning = `${shortened(url)} may then be taken again.`;
  return forget('Forget this URL?', meaning, { url }, [url]);
}

/** Drops the marks of a host. */
export function forgetHost(host: string): Action {
  return forget(`Forget host ${host}?`, 'Its URLs may then be taken again.', { host }, ['--host', host]);
}

/** Drops all marks. */
export function forgetAll(): Action {
  return forget('Forget all URLs?', 'Every URL may then be taken again, by any run.', { all: true }, ['--all']);
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

/** Dead letters that lie beside the marks go with them. */
function lettersText(letters: number): string {
  return letters === 0 ? '' : `, and ${counted(letters, 'dead letter')} deleted`;
}
