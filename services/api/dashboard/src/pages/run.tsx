import { useEffect, useState } from 'preact/hooks';
import { count, counted, duration, perSecond, shownState, size } from '../../../../../shared/control/format.ts';
import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import { useAnswer } from '../api/answer.ts';
import type { Graph, Run as RunAnswer, Webhook } from '../api/answers.ts';
import { pathOf } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { ActionButton, ActionButtons } from '../parts/action.tsx';
import { Figures } from '../parts/figures.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page, Section } from '../parts/page.tsx';
import { Progress } from '../parts/progress.tsx';
import { Reasons } from '../parts/reasons.tsx';
import { State } from '../parts/state.tsx';
import { StepGraph } from '../parts/step-graph.tsx';
import { Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';
import { actionsOf, replayWebhook } from '../run-actions.ts';
import { MoreUrls } from './more-urls.tsx';
import { Records } from './records.tsx';

const REFRESH_MS = 10_000;
/** Ids that the API accepts. A request for events with any other id is refused, and then has no events of the fleet either. */
const RUN_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
const LEFT_OUT: Readonly<Record<string, string>> = {
  depth: 'deeper than the run follows links',
  scope: 'outside its scope and patterns',
  maxPages: 'found after it reached its maximum number of pages',
  limit: 'offered after its limit',
  condition: 'refused by the condition of their step',
};

/** One run: its progress, its bottleneck, the counts of its steps, and the actions on it. */
export function Run({ id }: { readonly id: string }) {
  const { feed, snapshot } = useLive();
  useEffect(() => {
    if (RUN_ID.test(id)) feed.watch(id);
    return () => feed.watch(undefined);
  }, [feed, id]);
  const { answer, problem, isLoading } = useAnswer<RunAnswer>(pathOf('api/runs', id), REFRESH_MS);
  // For a run that is gone the feed only says that it is unknown; the answer says why.
  const run = snapshot.run?.state === 'unknown' ? undefined : (snapshot.run ?? answer);
  return (
    <Page title={`Run ${id}`} aside={run !== undefined && <State of={shownState(run)} />}>
      <Awaited problem={problem} isLoading={isLoading && run === undefined}>
        {run !== undefined && <RunParts run={run} />}
      </Awaited>
    </Page>
  );
}

function RunParts({ run }: { readonly run: RunAnswer }) {
  const lost = run.producers?.lost ?? 0;
  return (
    <>
      <p class="bar">
        <Progress run={run} />
        <ActionButtons actions={actionsOf(run)} of={`run ${run.run}`} />
      </p>
      {typeof run.bottleneck === 'string' && run.bottleneck !== '' && (
        <p class="bottleneck">
          <b>Bottleneck</b> <Other>{run.bottleneck}</Other>
        </p>
      )}
      {lost > 0 && run.sealed !== true && (
        <p class="warning">
          {counted(lost, 'producer')} lost: start it again, or seal the run, which then ends once nothing waits.
        </p>
      )}
      <Figures label="Counters" figures={figuresOf(run)} />
      <div class="columns">
        <Section title="Failed by reason">
          <Reasons
            label="Failed, by reason"
            isBad
            reasons={run.reasons.failed}
            none="Nothing failed."
            link={(reason) => linkTo(['dead-letters'], { run: run.run, reason })}
          />
        </Section>
        <Section title="Skipped by reason">
          <Reasons label="Skipped, by reason" reasons={run.reasons.skipped} none="Nothing was skipped." />
        </Section>
        <Section title="Left out">
          <LeftOut run={run} />
        </Section>
      </div>
      <HostsDown run={run} />
      <Steps run={run} />
      <Records run={run.run} />
      {(run.state === 'running' || run.state === 'paused') && run.sealed === false && <MoreUrls run={run.run} />}
      <WebhookState run={run.run} />
    </>
  );
}

function figuresOf(run: RunAnswer) {
  const { waiting, inFlight, done, failed, skipped, cancelled, duplicate, etaSeconds } = run;
  const isOver = run.state === 'finished' || run.state === 'cancelled';
  return [
    { name: 'Waiting', value: count(waiting) },
    { name: 'In flight', value: count(inFlight) },
    { name: 'Done', value: count(done), note: `${size(run.bytes)}` },
    { name: 'Failed', value: count(failed), isBad: failed > 0 },
    { name: 'Skipped', value: count(skipped), ...(cancelled > 0 ? { note: `${count(cancelled)} cancelled` } : {}) },
    { name: 'Duplicates', value: count(duplicate) },
    { name: 'Pages/s', value: perSecond(run.pagesPerSecond), note: `over ${duration(run.seconds * SECOND_MS)}` },
    {
      name: 'Time left',
      value: isOver ? '–' : typeof etaSeconds === 'number' ? duration(etaSeconds * SECOND_MS) : 'unknown',
    },
  ];
}

function LeftOut({ run }: { readonly run: RunAnswer }) {
  const rows = Object.entries(run.leftOut ?? {}).filter(([, value]) => value > 0);
  if (rows.length === 0) return <p class="none">No link was left out.</p>;
  return (
    <ul class="plain">
      {rows.map(([why, value]) => (
        <li key={why}>
          <b class="number">{count(value)}</b> {LEFT_OUT[why] ?? why}
        </li>
      ))}
    </ul>
  );
}

function HostsDown({ run }: { readonly run: RunAnswer }) {
  const { hostsDown } = run;
  if (hostsDown === undefined || hostsDown.count === 0) return null;
  return (
    <Section title="Hosts given up">
      <Table
        label="Hosts given up"
        rows={hostsDown.named}
        keyOf={({ host }) => host}
        none={counted(hostsDown.count, 'host')}
        columns={[
          { name: 'Host', of: ({ host }) => <Other>{host}</Other>, isHead: true },
          { name: 'Why', of: ({ reason }) => <Other>{reason}</Other> },
        ]}
      />
      {hostsDown.count > hostsDown.named.length && (
        <p class="none">and {count(hostsDown.count - hostsDown.named.length)} more</p>
      )}
    </Section>
  );
}

function Steps({ run }: { readonly run: RunAnswer }) {
  const { crawler } = run;
  const path = crawler === undefined ? undefined : `${pathOf('api/crawlers', crawler, 'graph')}?format=json`;
  const { answer, problem } = useAnswer<Graph>(path);
  if (crawler === undefined) return null;
  return (
    <Section title="Steps" aside={<span class="dim">crawler {crawler}</span>}>
      {answer !== undefined && <StepGraph graph={answer} run={run} />}
      {problem !== undefined && <p class="none">Its graph is not known here: {problem}</p>}
    </Section>
  );
}

/** The run's webhook, requested only when the user presses the button, since most runs have none. */
function WebhookState({ run }: { readonly run: string }) {
  const [isWanted, setWanted] = useState(false);
  const path = isWanted ? pathOf('api/runs', run, 'webhook') : undefined;
  const { answer, problem } = useAnswer<Webhook>(path, REFRESH_MS);
  const tries = Array.isArray(answer?.attempts) ? answer.attempts.length : Number(answer?.attempts);
  return (
    <Section title="Webhook">
      <p class="bar">
        {!isWanted && (
          <button type="button" class="small" onClick={() => setWanted(true)}>
            Was it delivered?
          </button>
        )}
        {answer !== undefined && <State of={answer.state} />}
        {Number.isFinite(tries) && counted(tries, 'attempt')}
        {answer === undefined && problem !== undefined && <Other>{problem}</Other>}
        {answer !== undefined && <ActionButton action={replayWebhook(run)} of={`to the webhook of run ${run}`} />}
      </p>
    </Section>
  );
}
