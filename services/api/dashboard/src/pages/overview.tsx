import { useMemo } from 'preact/hooks';
import { count, counted, duration, perSecond } from '../../../../../shared/control/format.ts';
import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import { useAnswer } from '../api/answer.ts';
import type { Fleet, Letters, Moment, PausedHost, Run } from '../api/answers.ts';
import { useIsLocal } from '../api/caller.ts';
import { useLive } from '../api/live.ts';
import { pauseFleet, resumeFleet, resumeHost } from '../host-actions.ts';
import { ActionButton } from '../parts/action.tsx';
import { Chart } from '../parts/chart.tsx';
import { Figures } from '../parts/figures.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page, Section } from '../parts/page.tsx';
import { Reasons } from '../parts/reasons.tsx';
import { Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';
import { RunTable } from './runs.tsx';
import { NoWorkers, WorkerTable } from './workers.tsx';

const RUNS_MS = 3_000;
const LETTERS_MS = 30_000;
/** Maximum number of runs whose bottleneck is shown on top. The table has the others. */
const MOST_SENTENCES = 3;
const NEWEST_RUNS = 10;
const MOST_RUNS = 30;
const MOST_WORKERS = 20;

/** The fleet at a glance: its pace, its bottlenecks and its failures. */
export function Overview() {
  const { snapshot } = useLive();
  const { answer, problem } = useAnswer<{ runs: readonly Run[] }>('api/runs?limit=50', RUNS_MS);
  const { fleet, history, moment } = snapshot;
  if (fleet === undefined) {
    return (
      <Page title="Overview">
        <Awaited problem={problem} isLoading>
          {null}
        </Awaited>
      </Page>
    );
  }
  const told = new Map(answer?.runs.map((run) => [run.run, run]));
  const runs = fleet.runs.map((run) => ({ ...told.get(run.run), ...run }));
  const open = runs.filter(isOpen);
  // Of very many open runs, the events have the newest.
  const unlisted = Math.max(0, fleet.open - open.length);
  const listed = [...open, ...runs.filter((run) => !isOpen(run)).slice(0, NEWEST_RUNS)];
  return (
    <Page title="Overview" aside={<FleetButtons runs={open} />}>
      <FleetFigures fleet={fleet} moment={moment} />
      <Bottlenecks runs={open} />
      <LastHour history={history} />
      <div class="columns">
        <Section title="Failures by reason">
          <Reasons
            label="Failures of the runs below, by reason"
            isBad
            reasons={sumsOf(runs)}
            link={(reason) => linkTo(['dead-letters'], { reason })}
            none="Nothing failed."
          />
        </Section>
        <Section title="Paused hosts" aside={<a href={linkTo(['hosts'])}>All hosts</a>}>
          <PausedHosts hosts={fleet.pausedHosts} />
          <More of="host" all={fleet.pausedHostCount} shown={fleet.pausedHosts.length} />
        </Section>
      </div>
      <Section title="Workers" aside={<a href={linkTo(['workers'])}>Tasks in hand</a>}>
        <WorkerTable workers={fleet.workers.slice(0, MOST_WORKERS)} none={<NoWorkers />} />
        <More of="worker" all={fleet.workers.length} shown={MOST_WORKERS} />
      </Section>
      <Section title="Runs" aside={<a href={linkTo(['runs'])}>All {count(fleet.known)}</a>}>
        <RunTable runs={listed.slice(0, MOST_RUNS)} none={<NoRuns />} />
        <More of="run" all={listed.length + unlisted} shown={MOST_RUNS} />
      </Section>
    </Page>
  );
}

/** The number of rows that a table leaves out. */
function More({ of, all, shown }: { readonly of: string; readonly all: number; readonly shown: number }) {
  return all > shown ? <p class="none">and {counted(all - shown, of)} more</p> : null;
}

function NoRuns() {
  const command = useIsLocal() ? 'crawl' : 'produce';
  return (
    <>
      No runs yet. <a href={linkTo(['new'])}>Start one</a>, or in a terminal:{' '}
      <code>trawl {command} https://example.com/</code>
    </>
  );
}

function FleetButtons({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <span class="row-actions">
      {runs.some(({ state }) => state === 'running') && <ActionButton action={pauseFleet()} />}
      {runs.some(({ state }) => state === 'paused') && <ActionButton action={resumeFleet()} />}
    </span>
  );
}

/** The bottleneck of each run, as a sentence. */
function Bottlenecks({ runs }: { readonly runs: readonly Run[] }) {
  const said = runs.filter(({ bottleneck }) => typeof bottleneck === 'string' && bottleneck !== '');
  if (said.length === 0) return null;
  return (
    <div class="bottleneck">
      <b>{runs.length === 1 ? 'Bottleneck' : 'Bottlenecks'}</b>
      <ul>
        {said.slice(0, MOST_SENTENCES).map(({ run, bottleneck }) => (
          <li key={run}>
            <a href={linkTo(['runs', run])}>{run}</a> <Other>{bottleneck}</Other>
          </li>
        ))}
        {said.length > MOST_SENTENCES && <li>and {counted(said.length - MOST_SENTENCES, 'run')} more, below</li>}
      </ul>
    </div>
  );
}

interface FleetFiguresProps {
  readonly fleet: Fleet;
  readonly moment: Moment | undefined;
}

function FleetFigures({ fleet, moment }: FleetFiguresProps) {
  const letters = useAnswer<Letters>('api/dlq?limit=0', LETTERS_MS);
  const isLocal = useIsLocal();
  const sumOf = (field: 'waiting' | 'inFlight' | 'failed' | 'done'): string =>
    moment === undefined ? '–' : count(moment[field]);
  const slots = fleet.workers.reduce((total, worker) => total + worker.slots, 0);
  const inHand = fleet.workers.reduce((total, worker) => total + worker.inHand, 0);
  const dead = letters.answer?.total;
  return (
    <Figures
      label="The fleet now"
      figures={[
        { name: 'Pages/s', value: moment === undefined ? '–' : perSecond(moment.pagesPerSecond) },
        { name: 'Waiting', value: sumOf('waiting'), note: `${counted(fleet.dueHosts, 'host')} due` },
        { name: 'In flight', value: sumOf('inFlight'), note: counted(fleet.open, 'open run') },
        { name: 'Done', value: sumOf('done'), note: 'open and newest runs' },
        { name: 'Failed', value: sumOf('failed'), note: 'open and newest runs', isBad: (moment?.failed ?? 0) > 0 },
        {
          name: 'Dead letters',
          value: dead === undefined ? '–' : <a href={linkTo(['dead-letters'])}>{count(dead)}</a>,
          ...(letters.problem === undefined ? {} : { note: 'unknown now' }),
        },
        {
          name: 'Workers',
          value: count(fleet.workers.length),
          note: `${count(inHand)} of ${count(slots)} slots`,
          isBad: !isLocal && fleet.workers.length === 0 && (moment?.waiting ?? 0) > 0,
        },
      ]}
    />
  );
}

function LastHour({ history }: { readonly history: readonly Moment[] }) {
  const { times, pages, failed, waiting } = useMemo(() => seriesOf(history), [history]);
  const last = history.at(-1);
  const now = last === undefined ? 'nothing yet' : `now ${perSecond(last.pagesPerSecond)}`;
  return (
    <Section title="The last hour">
      <div class="charts">
        <Chart
          label={`Pages per second in the last hour: ${now}, at most ${perSecond(Math.max(0, ...pages))}`}
          times={times}
          lines={[
            { name: 'pages/s', colour: '--accent', values: pages },
            { name: 'failed/s', colour: '--bad', values: failed },
          ]}
          text={perSecondShort}
        />
        <Chart
          label={`Waiting URLs in the last hour: now ${count(last?.waiting ?? 0)}, at most ${count(Math.max(0, ...waiting))}`}
          times={times}
          lines={[{ name: 'waiting', colour: '--warn', values: waiting }]}
          text={short}
        />
      </div>
    </Section>
  );
}

function seriesOf(history: readonly Moment[]) {
  const times = history.map(({ at }) => Date.parse(at) / SECOND_MS);
  const failed = history.map((moment, index) => {
    const before = history[index - 1];
    if (before === undefined) return 0;
    const seconds = Math.max(1, (Date.parse(moment.at) - Date.parse(before.at)) / SECOND_MS);
    // The sum drops when the store forgets a run with its failures.
    return Math.max(0, moment.failed - before.failed) / seconds;
  });
  return {
    times,
    failed,
    pages: history.map(({ pagesPerSecond }) => pagesPerSecond),
    waiting: history.map((moment) => moment.waiting),
  };
}

function perSecondShort(value: number): string {
  return value >= 10 || Number.isInteger(value) ? short(value) : String(Number(value.toFixed(2)));
}

/** Returns a number short enough for an axis, such as `12k`. */
function short(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

function PausedHosts({ hosts }: { readonly hosts: readonly PausedHost[] }) {
  return (
    <Table
      label="Paused hosts"
      rows={hosts}
      keyOf={({ host }) => host}
      none="No host is paused."
      columns={[
        { name: 'Host', of: ({ host }) => <Other>{host}</Other>, isHead: true },
        { name: 'Why', of: whyText },
        {
          name: '',
          of: ({ host }) => (
            <span class="row-actions">
              <ActionButton action={resumeHost(host)} of={`host ${host}`} />
            </span>
          ),
        },
      ]}
    />
  );
}

function whyText({ reason, byHand, unreachable, seconds }: PausedHost) {
  const until = seconds === undefined ? '' : `, ${duration(seconds * SECOND_MS)} more`;
  const kind = byHand ? 'by hand' : unreachable ? `unreachable${until}` : `paused${until}`;
  return <Other>{reason === '' || reason === 'by hand' ? kind : `${kind}: ${reason}`}</Other>;
}

function isOpen({ state }: Run): boolean {
  return state === 'running' || state === 'paused';
}

function sumsOf(runs: readonly Run[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { reasons } of runs) {
    for (const [reason, value] of Object.entries(reasons.failed)) sums[reason] = (sums[reason] ?? 0) + value;
  }
  return sums;
}
