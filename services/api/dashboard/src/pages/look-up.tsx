import { useState } from 'preact/hooks';
import { count, duration } from '../../../../../shared/control/format.ts';
import { useAnswer } from '../api/answer.ts';
import type { Biography, Chapter } from '../api/answers.ts';
import { queryOf } from '../api/client.ts';
import { commandLine } from '../command-line.ts';
import { forgetAll, forgetUrl } from '../forget-action.ts';
import { ActionButton } from '../parts/action.tsx';
import { CommandLine } from '../parts/command-line.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page, Section } from '../parts/page.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';
import { AttemptTable } from './attempt-table.tsx';
import { timeText } from './dead-letters.tsx';

/** The history of a URL: its runs, failed attempts and dead letters. */
export function LookUp({ query }: { readonly query: URLSearchParams }) {
  const url = query.get('url') ?? '';
  const [text, setText] = useState(url);
  const path = url === '' ? undefined : `api/urls${queryOf({ url })}`;
  const { answer, problem, isLoading, again } = useAnswer<Biography>(path);
  return (
    <Page
      title="URL"
      aside={
        <span class="row-actions">
          {answer !== undefined && <ActionButton action={forgetUrl(answer.url)}>Forget it</ActionButton>}
          <ActionButton action={forgetAll()}>Forget all</ActionButton>
        </span>
      }
    >
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault();
          if (text === url) again();
          location.hash = linkTo(['url'], { url: text });
        }}
      >
        <label class="wide">
          <span>URL</span>
          <input
            type="text"
            inputMode="url"
            spellcheck={false}
            value={text}
            placeholder="https://example.com/page"
            onInput={(event) => setText(event.currentTarget.value.trim())}
          />
        </label>
        <button type="submit" class="small" disabled={text === ''}>
          Look up
        </button>
      </form>
      {path !== undefined && (
        <Awaited problem={problem} isLoading={isLoading}>
          {answer !== undefined && <Story biography={answer} />}
        </Awaited>
      )}
    </Page>
  );
}

function Story({ biography }: { readonly biography: Biography }) {
  const { url, known, runs, truncated, attempts, letters, lettersProblem } = biography;
  return (
    <>
      <p>
        <Other>{url}</Other>: {known ? 'known, so a new run leaves it out.' : 'not known, so a new run takes it.'}
      </p>
      <Section title="Runs that know it">
        <Table
          label="Runs that know it"
          rows={runs}
          keyOf={({ run, step = '' }) => `${run} ${step}`}
          none={truncated ? 'None of the newest runs.' : 'None.'}
          columns={[
            { name: 'Run', of: ({ run }) => <a href={linkTo(['runs', run])}>{run}</a>, isHead: true },
            ...(runs.some(({ step }) => step !== undefined)
              ? [{ name: 'Step', of: ({ step }: Chapter) => <Other>{step ?? 'the first'}</Other> }]
              : []),
            { name: 'State', of: ({ runState }) => <State of={runState} /> },
            { name: 'What became of it', of: (chapter) => <Other>{chapterText(chapter)}</Other> },
          ]}
        />
      </Section>
      <Section title="Failed attempts">
        <AttemptTable attempts={attempts} />
      </Section>
      <Section title="Its dead letters">
        {letters === null ? (
          <p class="problem">Not known: {lettersProblem}</p>
        ) : (
          <ul class="plain">
            {letters.map(({ id, reason, failedAt }) => (
              <li key={id}>
                <a href={linkTo(['dead-letters', id ?? ''])}>{reason}</a>, {timeText(failedAt)}
              </li>
            ))}
            {letters.length === 0 && <li class="none">None.</li>}
          </ul>
        )}
      </Section>
      <CommandLine text={commandLine('url', url)} />
    </>
  );
}

function chapterText({ place, record, hasFailed, isMarked, hasOwnMarks, forbidden }: Chapter): string {
  if (place !== undefined) {
    switch (place.at) {
      case 'waiting': {
        const host = place.host === undefined ? 'its host' : `${place.host}, which it was redirected to`;
        return place.ahead === 0
          ? `waits in the ${place.queue} list of ${host}, first in line`
          : `waits in the ${place.queue} list of ${host}, ${count(place.ahead ?? 0)} ahead of it`;
      }
      case 'retry':
        if (place.forRoom === true) return 'waits until Redis has room for its links';
        return `waits for its next attempt, in ${duration(place.inMs ?? 0)}`;
      case 'publishing':
        return 'on its way to the broker';
      case 'queued':
        return `in the broker's ${place.queue} queue`;
      case 'working':
        return `worked on by ${place.worker}, for ${duration(place.forMs ?? 0)}`;
    }
  }
  if (record !== undefined) {
    const { outcome, status, reason, error = '', title, fetchedAt } = record;
    const parts = [
      outcome,
      status === undefined ? '' : `HTTP ${status}`,
      reason ?? '',
      error === `HTTP ${status}` ? '' : error,
      timeText(fetchedAt),
      title ?? '',
    ];
    return parts.filter((part) => part !== '').join(', ');
  }
  if (hasFailed) return 'failed';
  if (!isMarked) return 'not known';
  const robots = forbidden === undefined ? '' : `; by the robots.txt known now, ${forbidden}`;
  return `${hasOwnMarks ? 'done or skipped' : 'taken, by this run or another that shares its marks'}${robots}`;
}
