import type { Letter } from '../api/answers.ts';
import { Other } from '../parts/other.tsx';
import { Table } from '../parts/table.tsx';
import { timeText } from './dead-letters.tsx';

/** Failed attempts, newest first. */
export function AttemptTable({ attempts }: { readonly attempts: NonNullable<Letter['attempts']> }) {
  return (
    <Table
      label="Failed attempts"
      rows={attempts}
      keyOf={({ at, worker }) => `${at} ${worker}`}
      none="No attempt failed in the last day."
      columns={[
        { name: 'Time', of: ({ at }) => timeText(at), isHead: true },
        { name: 'Worker', of: ({ worker }) => worker },
        { name: 'Reason', of: ({ reason, status }) => (status === undefined ? reason : `${reason} (${status})`) },
        { name: 'Error', of: ({ error }) => <Other>{error ?? ''}</Other> },
      ]}
    />
  );
}
