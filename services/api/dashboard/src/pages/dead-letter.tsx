import { counted } from '../../../../../shared/control/format.ts';
import { useAnswer } from '../api/answer.ts';
import type { Letter } from '../api/answers.ts';
import { pathOf } from '../api/client.ts';
import { commandLine } from '../command-line.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page, Section } from '../parts/page.tsx';
import { linkTo } from '../route.ts';
import { visible } from '../visible.ts';
import { AttemptTable } from './attempt-table.tsx';
import { KeptFor, timeText } from './dead-letters.tsx';

/** One dead letter: its reason, its attempts, and how long it is kept. */
export function DeadLetter({ id }: { readonly id: string }) {
  const { answer, problem, isLoading } = useAnswer<Letter>(pathOf('api/dlq', id));
  return (
    <Page title="Dead letter" aside={<a href={linkTo(['dead-letters'])}>All dead letters</a>}>
      <Awaited problem={problem} isLoading={isLoading}>
        {answer !== undefined && <LetterFacts letter={answer} />}
      </Awaited>
    </Page>
  );
}

function LetterFacts({ letter }: { readonly letter: Letter }) {
  const {
    id,
    url,
    reason,
    status,
    error,
    run,
    step,
    failedAt,
    firstSeen,
    attempts = [],
    owner,
    raw,
    rawBase64,
  } = letter;
  return (
    <>
      <dl class="facts">
        {url !== undefined && (
          <>
            <dt>URL</dt>
            <dd>
              <a href={linkTo(['url'], { url })}>
                <Other isWhole>{url}</Other>
              </a>
            </dd>
          </>
        )}
        <dt>Reason</dt>
        <dd>{status === undefined ? reason : `${reason} (HTTP ${status})`}</dd>
        <dt>Error</dt>
        <dd>
          <Other isWhole>{error ?? '–'}</Other>
        </dd>
        {run !== undefined && (
          <>
            <dt>Run</dt>
            <dd>
              <a href={linkTo(['runs', run])}>{run}</a>
              {step !== undefined && step !== '' && `, step ${step}`}
            </dd>
          </>
        )}
        {owner !== undefined && (
          <>
            <dt>Owner of its group</dt>
            <dd>
              <a href={linkTo(['url'], { url: owner.url })}>
                <Other>{owner.url}</Other>
              </a>
              , which a replay crawls again with the whole group
            </dd>
          </>
        )}
        <dt>First seen</dt>
        <dd>{timeText(firstSeen)}</dd>
        <dt>Failed</dt>
        <dd>
          {timeText(failedAt)}, kept for <KeptFor letter={letter} />
        </dd>
      </dl>
      {(raw ?? rawBase64) !== undefined && (
        <Section title="The message">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard. */}
          <pre class="other" tabIndex={0}>
            {(raw ?? rawBase64 ?? '').split('\n').map(visible).join('\n')}
          </pre>
        </Section>
      )}
      <Section title={counted(attempts.length, 'attempt')}>
        <AttemptTable attempts={attempts} />
      </Section>
      <CommandLine text={commandLine('dlq', 'show', id ?? '')} />
    </>
  );
}
