import { count, counted } from '../../../../shared/control/format.ts';
import { ask } from './api/client.ts';
import { commandLine, flag } from './command-line.ts';
import type { Action } from './parts/action.tsx';
import { type Replayed, replayText } from './replay-text.ts';

/** Selects dead letters, by all of the given values. */
export interface LetterFilter {
  readonly reason?: string | undefined;
  readonly host?: string | undefined;
  readonly run?: string | undefined;
}

interface Purged {
  readonly purged: number;
  readonly matching: number;
}

/** Returns the action that offers the letters again, as new runs. */
export function replay(filter: LetterFilter): Action {
  return {
    title: `Replay ${wordsOf(filter)}?`,
    verb: 'Replay',
    meaning:
      'They are offered again as new runs, with the options of their old runs, and removed from the dead letters. For letters of a group, its owner is crawled again with the whole group.',
    count: async () => {
      return replayText(await ask<Replayed>('POST', 'api/dlq/replay', bodyOf(filter, true)));
    },
    command: () => commandLine('dlq', 'replay', ...flagsOf(filter)),
    run: async () => {
      const { letters, runs } = await ask<Replayed>('POST', 'api/dlq/replay', bodyOf(filter, false));
      return `${counted(letters, 'letter')} replayed${runs.length === 0 ? '' : ` as ${runs.map(({ run }) => run).join(', ')}`}.`;
    },
  };
}

/** Returns the action that deletes the letters. */
export function purge(filter: LetterFilter): Action {
  const all = isEmpty(filter) ? ['--all'] : [];
  return {
    title: `Delete ${wordsOf(filter)}?`,
    verb: 'Delete',
    isFinal: true,
    meaning: "This is final: deleted letters can't be replayed.",
    count: async () => {
      const { matching } = await ask<Purged>('POST', 'api/dlq/purge', bodyOf(filter, true));
      return `${counted(matching, 'letter')} will be deleted.`;
    },
    command: () => commandLine('dlq', 'purge', ...flagsOf(filter), ...all),
    run: async () => {
      const { purged } = await ask<Purged>('POST', 'api/dlq/purge', bodyOf(filter, false));
      return `${count(purged)} deleted.`;
    },
  };
}

function bodyOf(filter: LetterFilter, dryRun: boolean): object {
  return { ...filter, ...(isEmpty(filter) ? { all: true } : {}), dryRun };
}

function isEmpty({ reason, host, run }: LetterFilter): boolean {
  return [reason, host, run].every((value) => value === undefined);
}

function flagsOf({ reason, host, run }: LetterFilter): readonly string[] {
  return [...flag('--reason', reason), ...flag('--host', host), ...flag('--run', run)];
}

function wordsOf(filter: LetterFilter): string {
  if (isEmpty(filter)) return 'all dead letters';
  const { reason, host, run } = filter;
  const parts = [
    reason,
    host === undefined ? undefined : `of ${host}`,
    run === undefined ? undefined : `of run ${run}`,
  ];
  return `the dead letters ${parts.filter((part) => part !== undefined).join(' ')}`;
}
