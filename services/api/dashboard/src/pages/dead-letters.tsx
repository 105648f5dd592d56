import { useState } from 'preact/hooks';
import { counted, duration } from '../../../../../shared/control/format.ts';
import { HOUR_MS } from '../../../../../shared/task/durations.ts';
import { LETTER_REASONS } from '../../../../../shared/task/task/outcome.ts';
import type { Letter, Letters } from '../api/answers.ts';
import { queryOf } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { type LetterFilter, purge, replay } from '../letter-actions.ts';
import { ActionButton } from '../parts/action.tsx';
import { useCursorPages } from '../parts/cursor-pages.ts';
import { Other } from '../parts/other.tsx';
import { Awaited, Page } from '../parts/page.tsx';
import { PAGE_ROWS, Pager } from '../parts/pager.tsx';
import { Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';

const REFRESH_MS = 30_000;

/** Lists failed tasks with their reasons and how long they are kept, and lets users replay and delete them. */
export function DeadLetters({ query }: { readonly query: URLSearchParams }) {
  const filter: LetterFilter = {
    reason: query.get('reason') ?? undefined,
    host: query.get('host') ?? undefined,
    run: query.get('run') ?? undefined,
  };
  const chosen = queryOf({ ...filter });
  const { answer, problem, isLoading, page, onBack, onNext, again } = useCursorPages<Letters>(
    'api/dlq',
    { ...filter, limit: PAGE_ROWS },
    REFRESH_MS,
  );
  const rows = answer?.letters ?? [];
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Page
      title="Dead letters"
      aside={
        <span class="row-actions">
          <ActionButton action={replay(filter)}>{isFiltered ? 'Replay these' : 'Replay all'}</ActionButton>
          <ActionButton action={purge(filter)}>{isFiltered ? 'Delete these' : 'Delete all'}</ActionButton>
        </span>
      }
    >
      <FilterForm key={chosen} filter={filter} onRefresh={again} />
      <Awaited problem={problem} isLoading={isLoading}>
        {answer !== undefined && (
          <p class="dim">
            {counted(answer.total, 'dead letter')}
            {isFiltered ? ' selected' : ''}. Each is kept for a day.
            {answer.truncated && ' There are more than can be searched: only the oldest are listed.'}
          </p>
        )}
        <Table
          label="Dead letters"
          rows={rows}
          keyOf={(letter) => `${letter.id} ${letter.failedAt}`}
          none={isFiltered ? 'No dead letter matches.' : 'There are none.'}
          columns={[
            {
              name: 'URL',
              of: (letter) => (
                <a href={linkTo(['dead-letters', letter.id ?? ''])}>
                  <Other>{letter.url ?? letter.raw ?? letter.id ?? 'no URL'}</Other>
                </a>
              ),
              isHead: true,
            },
            { name: 'Reason', of: ({ reason, status }) => (status === undefined ? reason : `${reason} (${status})`) },
            { name: 'Error', of: ({ error }) => <Other>{error ?? ''}</Other>, isExtra: true },
            { name: 'Run', of: ({ run }) => (run === undefined ? '' : <a href={linkTo(['runs', run])}>{run}</a>) },
            { name: 'Failed', of: ({ failedAt }) => timeText(failedAt), isExtra: true },
            { name: 'Kept for', of: (letter) => <KeptFor letter={letter} />, isNumber: true },
          ]}
        />
        <Pager
          of="dead letters"
          first={page * PAGE_ROWS}
          rows={rows.length}
          total={answer?.truncated === false ? answer.total : undefined}
          onBack={onBack}
          onNext={onNext}
        />
      </Awaited>
    </Page>
  );
}

function FilterForm({ filter, onRefresh }: { readonly filter: LetterFilter; readonly onRefresh: () => void }) {
  const [host, setHost] = useState(filter.host ?? '');
  const [run, setRun] = useState(filter.run ?? '');
  const go = (change: LetterFilter): void => {
    location.hash = linkTo(['dead-letters'], { ...filter, host, run, ...change });
  };
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault();
        go({});
      }}
    >
      <label>
        <span>Reason</span>
        <select value={filter.reason ?? ''} onChange={(event) => go({ reason: event.currentTarget.value })}>
          <option value="">all</option>
          {LETTER_REASONS.map((reason) => (
            <option key={reason} value={reason}>
              {reason}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Host</span>
        <input value={host} onInput={(event) => setHost(event.currentTarget.value.trim())} />
      </label>
      <label>
        <span>Run</span>
        <input value={run} onInput={(event) => setRun(event.currentTarget.value.trim())} />
      </label>
      <button type="submit" class="small">
        Filter
      </button>
      <button type="button" class="small" onClick={onRefresh}>
        Refresh
      </button>
    </form>
  );
}

/** Time until a letter expires. */
export function KeptFor({ letter: { expiresAt } }: { readonly letter: Letter }) {
  const { moment } = useLive().snapshot;
  if (expiresAt === undefined) return <>–</>;
  // The user's own clock might be hours off.
  const now = moment === undefined ? Date.now() : Date.parse(moment.at);
  const leftMs = Date.parse(expiresAt) - now;
  return <span class={leftMs < HOUR_MS ? 'bad' : undefined}>{leftMs <= 0 ? 'any moment' : duration(leftMs)}</span>;
}

/** Returns a moment in the user's time zone. */
export function timeText(iso: string | number | undefined): string {
  if (iso === undefined) return '';
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString('sv');
}
