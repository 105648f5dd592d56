import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { count, counted, duration } from '../../../../../shared/control/format.ts';
import { useAnswer } from '../api/answer.ts';
import type { Worker, WorkerTask } from '../api/answers.ts';
import { useIsLocal } from '../api/caller.ts';
import { pathOf } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { Other } from '../parts/other.tsx';
import { Awaited, Page, Section } from '../parts/page.tsx';
import { PAGE_ROWS, Pager } from '../parts/pager.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';

const TASKS_MS = 5_000;

/** Texts about what keeps a worker from doing more. */
const BOUNDS: Readonly<Record<string, string>> = {
  network: 'the network: no host answers it',
  proxies: 'its proxies: none can be used (PROXY_URL)',
  sink: 'its sink, which is slow or hangs (SINK)',
  slots: 'its slots: more would help',
  cpu: 'its CPU: more workers on other cores would help',
  memory: 'its memory (BODY_MEMORY)',
  files: 'open files (ulimit -n)',
  politeness: 'nothing of its own: no other host is due',
};

/** The live workers, or one of them with its tasks in hand. */
export function Workers({ chosen }: { readonly chosen: string | undefined }) {
  const { fleet } = useLive().snapshot;
  const [first, setFirst] = useState(0);
  const workers = (fleet?.workers ?? []).filter(({ id }) => chosen === undefined || id === chosen);
  const rows = workers.slice(first, first + PAGE_ROWS);
  return (
    <Page
      title={chosen === undefined ? 'Workers' : `Worker ${chosen}`}
      aside={chosen !== undefined && <a href={linkTo(['workers'])}>All workers</a>}
    >
      <Awaited problem={undefined} isLoading={fleet === undefined}>
        <WorkerTable workers={rows} none={chosen === undefined ? <NoWorkers /> : 'It is no longer alive.'} />
        <Pager
          of="workers"
          first={first}
          rows={rows.length}
          total={workers.length}
          onBack={first === 0 ? undefined : () => setFirst(first - PAGE_ROWS)}
          onNext={first + PAGE_ROWS >= workers.length ? undefined : () => setFirst(first + PAGE_ROWS)}
        />
      </Awaited>
      {chosen !== undefined && <TasksInHand key={chosen} worker={chosen} />}
    </Page>
  );
}

/** Text in place of an empty list of workers: how to start one. */
export function NoWorkers() {
  if (useIsLocal()) return <>The crawls of this machine need no workers.</>;
  return (
    <>
      No worker is running. Start one: <code>trawl work</code>
    </>
  );
}

interface WorkerTableProps {
  readonly workers: readonly Worker[];
  readonly none: ComponentChildren;
}

export function WorkerTable({ workers, none }: WorkerTableProps) {
  return (
    <Table
      label="Workers"
      rows={workers}
      keyOf={({ id }) => id}
      none={none}
      columns={[
        { name: 'Worker', of: ({ id }) => <a href={linkTo(['workers', id])}>{id}</a>, isHead: true },
        { name: 'State', of: ({ state }) => <State of={state} /> },
        { name: 'In hand', of: ({ inHand }) => count(inHand), isNumber: true },
        { name: 'Slots', of: ({ slots }) => count(slots), isNumber: true },
        { name: 'Bound by', of: ({ bound }) => BOUNDS[bound] ?? bound },
        { name: 'Version', of: ({ version }) => version, isExtra: true },
        { name: 'Last heard', of: ({ silentMs }) => `${duration(silentMs)} ago`, isNumber: true, isExtra: true },
      ]}
    />
  );
}

function TasksInHand({ worker }: { readonly worker: string }) {
  const { answer, problem, isLoading } = useAnswer<Worker & { tasks?: readonly WorkerTask[] }>(
    pathOf('api/workers', worker),
    TASKS_MS,
  );
  const [first, setFirst] = useState(0);
  if (answer !== undefined && answer.tasks === undefined)
    return <p class="none">It has {counted(answer.inHand, 'task')} in hand, which this API does not list.</p>;
  const tasks = answer?.tasks ?? [];
  const rows = tasks.slice(first, first + PAGE_ROWS);
  return (
    <Section title="Tasks in hand">
      <Awaited problem={problem} isLoading={isLoading}>
        <Table
          label="Tasks in hand"
          rows={rows}
          keyOf={({ run, url, step }) => `${run} ${step} ${url}`}
          none="It has no tasks in hand."
          columns={[
            {
              name: 'URL',
              of: ({ url }) => (
                <a href={linkTo(['url'], { url })}>
                  <Other>{url}</Other>
                </a>
              ),
              isHead: true,
            },
            { name: 'Run', of: ({ run }) => <a href={linkTo(['runs', run])}>{run}</a> },
            { name: 'Step', of: ({ step }) => step ?? '' },
            { name: 'For', of: ({ forMs }) => (forMs === undefined ? '' : duration(forMs)), isNumber: true },
          ]}
        />
        <Pager
          of="tasks"
          first={first}
          rows={rows.length}
          total={tasks.length}
          onBack={first === 0 ? undefined : () => setFirst(first - PAGE_ROWS)}
          onNext={first + PAGE_ROWS >= tasks.length ? undefined : () => setFirst(first + PAGE_ROWS)}
        />
      </Awaited>
    </Section>
  );
}
