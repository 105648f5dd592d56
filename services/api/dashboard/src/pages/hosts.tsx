import { useState } from 'preact/hooks';
import { count, duration } from '../../../../../shared/control/format.ts';
import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import type { Host } from '../api/answers.ts';
import { forgetHost } from '../forget-action.ts';
import { hostActions } from '../host-actions.ts';
import { ActionButtons } from '../parts/action.tsx';
import { useCursorPages } from '../parts/cursor-pages.ts';
import { NameFilter } from '../parts/name-filter.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page } from '../parts/page.tsx';
import { PAGE_ROWS, Pager } from '../parts/pager.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';

const REFRESH_MS = 5_000;
/** Longest host name, with its port. */
const MOST_NAME = 260;
/** Name under which texts that are not URLs wait. It is no host and can't be steered. */
const NO_HOST = '?';

/** Hosts with their pace, pauses and limits, one page at a time. */
export function Hosts() {
  const [state, setState] = useState('');
  const [contains, setContains] = useState('');
  const [name, setName] = useState('');
  const { answer, problem, isLoading, page, onBack, onNext, again } = useCursorPages<{
    hosts: readonly Host[];
    next?: string | null;
    truncated: boolean;
  }>('api/hosts', { state, contains, limit: PAGE_ROWS }, REFRESH_MS);
  const hosts = answer?.hosts ?? [];
  return (
    <Page title="Hosts">
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Show</span>
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">all</option>
            <option value="paused">paused</option>
            <option value="unreachable">unreachable</option>
            <option value="waiting">with waiting tasks</option>
          </select>
        </label>
        <NameFilter value={contains} longest={MOST_NAME} onChange={setContains} />
        <label>
          <span>Steer a host by name</span>
          <input
            value={name}
            placeholder="example.com"
            onInput={(event) => setName(event.currentTarget.value.trim())}
          />
        </label>
        {name !== '' && (
          <span class="row-actions">
            <ActionButtons
              actions={[...hostActions({ host: name, isPaused: undefined }), forgetHost(name)]}
              of={`host ${name}`}
            />
          </span>
        )}
        <button type="button" class="small" onClick={again}>
          Refresh
        </button>
      </form>
      <Awaited problem={problem} isLoading={isLoading}>
        {answer?.truncated === true && (
          <p class="dim">
            There are more hosts. Of the runs with the most, those whose turn is furthest away are listed.
          </p>
        )}
        <Table
          label="Hosts"
          rows={hosts}
          keyOf={({ host }) => host}
          none={noneText(state, contains)}
          columns={[
            { name: 'Host', of: ({ host }) => <Other>{host}</Other>, isHead: true },
            { name: 'Waiting', of: ({ waiting }) => count(waiting), isNumber: true },
            { name: 'Runs', of: ({ runs }) => count(runs.length), isNumber: true, isExtra: true },
            { name: 'Pace', of: paceText },
            { name: 'State', of: (host) => <State of={stateOf(host)} /> },
            { name: 'Why', of: (host) => <Other>{whyText(host)}</Other>, isExtra: true },
            {
              name: '',
              of: (host) => (
                <span class="row-actions">
                  {host.host !== NO_HOST && (
                    <ActionButtons
                      actions={hostActions({ host: host.host, isPaused: stateOf(host) !== 'not paused' })}
                      of={`host ${host.host}`}
                    />
                  )}
                  <a
                    class="button small"
                    href={linkTo(
                      ['dead-letters'],
                      host.host === NO_HOST ? { reason: 'malformed' } : { host: host.host },
                    )}
                    aria-label={`Dead letters of ${host.host}`}
                  >
                    Letters
                  </a>
                </span>
              ),
            },
          ]}
        />
        <Pager of="hosts" first={page * PAGE_ROWS} rows={hosts.length} onBack={onBack} onNext={onNext} />
      </Awaited>
    </Page>
  );
}

function noneText(state: string, contains: string): string {
  const named = contains === '' ? '' : ` with ${contains} in its name`;
  return state === '' || state === 'waiting' ? `No host${named} has waiting tasks.` : `No host${named} is ${state}.`;
}

function stateOf({ unreachable, paused }: Host): string {
  if (unreachable) return 'unreachable';
  return paused ? 'paused' : 'not paused';
}

function paceText({ rate, because, responseMs }: Host): string {
  if (rate === null) return '';
  if (rate === 'none') return 'no limit';
  switch (because) {
    case 'answers':
      return `${rate}: its answers take ${duration(responseMs ?? 0)}`;
    case 'robots':
      return `${rate}: robots.txt`;
    case 'slowed':
      return `${rate}: slowed`;
    default:
      return rate;
  }
}

function whyText(host: Host): string {
  const { reason, byHand, pausedSeconds } = host;
  if (stateOf(host) === 'not paused') return '';
  if (byHand) return reason === 'by hand' || reason === '' ? 'by hand' : `by hand: ${reason}`;
  const left = pausedSeconds === null ? '' : `${duration(pausedSeconds * SECOND_MS)} more`;
  return [reason, left].filter((part) => part !== '').join(', ');
}
