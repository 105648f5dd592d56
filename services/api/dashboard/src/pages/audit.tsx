import type { AuditEntry } from '../api/answers.ts';
import { useCursorPages } from '../parts/cursor-pages.ts';
import { Other } from '../parts/other.tsx';
import { Awaited, Page } from '../parts/page.tsx';
import { PAGE_ROWS, Pager } from '../parts/pager.tsx';
import { Table } from '../parts/table.tsx';
import { timeText } from './dead-letters.tsx';

const REFRESH_MS = 10_000;

/** The changes made through the API, newest first. */
export function Audit() {
  const { answer, problem, isLoading, page, onBack, onNext } = useCursorPages<{
    entries: readonly AuditEntry[];
    next?: number | null;
  }>('api/audit', { limit: PAGE_ROWS }, REFRESH_MS);
  const entries = (answer?.entries ?? []).map((entry, index) => ({ ...entry, index }));
  return (
    <Page title="Audit">
      <Awaited problem={problem} isLoading={isLoading}>
        <Table
          label="Audit"
          rows={entries}
          keyOf={({ index, at }) => `${at} ${index}`}
          none="Nobody has changed anything through the API."
          columns={[
            { name: 'Time', of: ({ at }) => timeText(at), isHead: true },
            { name: 'By', of: ({ by, role }) => <Other>{`${by} (${role})`}</Other> },
            { name: 'Action', of: ({ action }) => action },
            { name: 'Target', of: ({ target }) => <Other>{target}</Other> },
            { name: 'Reason', of: ({ reason }) => <Other>{reason ?? ''}</Other> },
          ]}
        />
        <Pager of="the audit" first={page * PAGE_ROWS} rows={entries.length} onBack={onBack} onNext={onNext} />
      </Awaited>
    </Page>
  );
}
