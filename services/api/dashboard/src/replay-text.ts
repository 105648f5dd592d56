import { counted } from '../../../../shared/control/format.ts';

/** The API's answer to a replay. */
export interface Replayed {
  readonly letters: number;
  /** Letters of tasks that a policy of RabbitMQ removed from a queue. */
  readonly undelivered?: number;
  readonly malformed: number;
  /** Letters of groups that can't be replayed. */
  readonly withoutOwner?: number;
  readonly runs: readonly {
    readonly run: string;
    readonly origin: string;
    readonly accepted: number;
    readonly ofGroups?: number;
    readonly owners?: number;
  }[];
}

/** Returns sentences about what a replay would do. */
export function replayText({ letters, undelivered = 0, malformed, withoutOwner = 0, runs }: Replayed): string {
  const ofGroups = runs.reduce((sum, run) => sum + (run.ofGroups ?? 0), 0);
  const owners = runs.reduce((sum, run) => sum + (run.owners ?? 0), 0);
  return [
    `${counted(letters, 'letter')} of ${counted(runs.length, 'run')}.`,
    ...(ofGroups === 0 ? [] : [`${counted(ofGroups, 'letter')} of ${counted(owners, 'owner')}.`]),
    ...(undelivered === 0
      ? []
      : [
          `${counted(undelivered, 'letter')} of tasks that a policy of RabbitMQ removed from a queue: these tasks wait in their own runs again.`,
        ]),
    ...(malformed === 0 ? [] : [`${counted(malformed, 'malformed letter')} will stay.`]),
    ...(withoutOwner === 0 ? [] : [`${counted(withoutOwner, 'letter')} of groups can't be replayed, and will stay.`]),
  ].join(' ');
}
