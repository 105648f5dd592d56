import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { duration, perSecond, shownState } from '../../../../../shared/control/format.ts';
import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import type { Run, RunState } from '../api/answers.ts';
import { useLive } from '../api/live.ts';
import { ActionButtons } from '../parts/action.tsx';
import { useCursorPages } from '../parts/cursor-pages.ts';
import { NameFilter } from '../parts/name-filter.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page } from '../parts/page.tsx';
import { PAGE_ROWS, Pager } from '../parts/pager.tsx';
import { Progress } from '../parts/progress.tsx';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';
import { actionsOf } from '../run-actions.ts';

const REFRESH_MS = 5_000;
const ROWS = PAGE_ROWS / 2;
/** Longest run id. */
const MOST_NAME = 63;
const STATES: readonly RunState[] = ['running', 'paused', 'finished', 'cancelled'];

/** All runs, newest first. Runs in the live feed are shown as the feed has them. */
export function Runs() {
  const [state, setState] = useState('');
  const [contains, setContains] = useState('');
  const { snapshot } = useLive();
  const { answer, problem, isLoading, page, onBack, onNext } = useCursorPages<{
    runs: readonly Run[];
    next?: string | null;
  }>('api/runs', { state, contains, limit: ROWS }, REFRESH_MS);
  const live = new Map(snapshot.fleet?.runs.map((run) => [run.run, run]));
  const rows = (answer?.runs ?? [])
    .map((run) => ({ ...run, ...live.get(run.run) }))
    .filter((run) => state === '' || run.state === state);
  return (
    <Page
      title="Runs"
      aside={
        <a class="button" href={linkTo(['new'])}>
          New crawl
        </a>
      }
    >
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>State</span>
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">all</option>
            {STATES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <NameFilter value={contains} longest={MOST_NAME} onChange={setContains} />
      </form>
      <Awaited problem={problem} isLoading={isLoading}>
        <RunTable runs={rows} none={noneText({ state, contains, hasMore: onNext !== undefined })} />
        <Pager of="runs" first={page * ROWS} rows={rows.length} onBack={onBack} onNext={onNext} />
      </Awaited>
    </Page>
  );
}

/** Runs, one a row, with the actions on them. */
export function RunTable({ runs, none }: { readonly runs: readonly Run[]; readonly none: ComponentChildren }) {
  return <Table label="Runs" rows={runs} keyOf={({ run }) => run} none={none} columns={COLUMNS} />;
}

const COLUMNS: readonly Column<Run>[] = [
  { name: 'Run', of: ({ run }) => <a href={linkTo(['runs', run])}>{run}</a>, isHead: true },
  { name: 'State', of: (run) => <State of={shownState(run)} /> },
  { name: 'Progress', of: (run) => <Progress run={run} /> },
  { name: 'Failed', of: ({ failed }) => (failed > 0 ? <b class="bad">{failed}</b> : '0'), isNumber: true },
  {
    name: 'Pages/s',
    of: ({ recentPagesPerSecond, pagesPerSecond }) => perSecond(recentPagesPerSecond ?? pagesPerSecond),
    isNumber: true,
  },
  { name: 'Time left', of: leftText, isNumber: true },
  { name: 'Bottleneck', of: ({ bottleneck }) => <Other>{bottleneck ?? ''}</Other>, isExtra: true },
  {
    name: '',
    of: (run) => (
      <span class="row-actions">
        <ActionButtons actions={actionsOf(run)} of={`run ${run.run}`} />
      </span>
    ),
  },
];

function noneText({ state, contains, hasMore }: { state: string; contains: string; hasMore: boolean }): string {
  const named = contains === '' ? '' : ` with ${contains} in its name`;
  if (hasMore) return `No run${named} is ${state || 'listed'} so far: Next looks further back.`;
  if (state === '') return named === '' ? 'No runs yet.' : `There is no run${named}.`;
  return `No run${named} is ${state}.`;
}

function leftText({ etaSeconds, state }: Run): string {
  if (state === 'finished' || state === 'cancelled') return '';
  return etaSeconds === undefined || etaSeconds === null ? '–' : duration(etaSeconds * SECOND_MS);
}
