import { useState } from 'preact/hooks';
import { counted } from '../../../../../shared/control/format.ts';
import { useIsLocal, useMay } from '../api/caller.ts';
import { ask, pathOf, sentenceOf } from '../api/client.ts';
import { commandLine } from '../command-line.ts';
import { linesOf } from '../lines.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Section } from '../parts/page.tsx';

interface Offered {
  readonly discovered: number;
  readonly duplicate: number;
  readonly malformed: number;
}

/** A form that offers more URLs to an open run. */
export function MoreUrls({ run }: { readonly run: string }) {
  const [text, setText] = useState('');
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const urls = linesOf(text);
  const mayOffer = useMay('submit');
  const isLocal = useIsLocal();
  const offer = async (): Promise<void> => {
    setProblem('');
    try {
      const { discovered, duplicate, malformed } = await ask<Offered>('POST', pathOf('api/runs', run, 'offers'), {
        urls,
      });
      setSaid(
        `${counted(discovered, 'URL')} taken${malformed > 0 ? `, ${malformed} of them malformed` : ''}; ${duplicate} already known.`,
      );
      setText('');
    } catch (error: unknown) {
      setProblem(sentenceOf(error));
    }
  };
  if (!mayOffer) return null;
  return (
    <Section title="More URLs">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void offer();
        }}
      >
        <label class="field">
          <span>URLs to add, one a line</span>
          <textarea rows={3} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {/* In local mode no command can offer to an open run, only the API. */}
        {!isLocal && (
          <CommandLine text={commandLine('produce', '--run', run, ...(urls.length === 0 ? ['-'] : urls.slice(0, 3)))} />
        )}
        {problem !== '' && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p class="bar">
          <button type="submit" disabled={urls.length === 0}>
            Add {urls.length === 0 ? '' : counted(urls.length, 'URL')}
          </button>
          <span role="status">{said}</span>
        </p>
      </form>
    </Section>
  );
}
