import { useRef, useState } from 'preact/hooks';
import { expectDownload, pathOf, sentenceOf } from '../api/client.ts';
import { commandLine } from '../command-line.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Section } from '../parts/page.tsx';
import { visible } from '../visible.ts';
import { RecordTable } from './record-table.tsx';

/** Downloads of a run's records, and their table, requested only when the user presses the button. */
export function Records({ run }: { readonly run: string }) {
  const [problem, setProblem] = useState('');
  const [isShown, setShown] = useState(false);
  return (
    <Section title="Records">
      <p class="bar">
        <button type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide records' : 'Show records'}
        </button>
        <Download run={run} format="jsonl" onProblem={setProblem}>
          Download JSON lines
        </Download>
        <Download run={run} format="csv" onProblem={setProblem}>
          Download CSV
        </Download>
      </p>
      {problem !== '' && (
        <p class="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      {isShown && <RecordTable key={run} run={run} />}
      <CommandLine text={commandLine('records', run)} />
    </Section>
  );
}

interface DownloadProps {
  readonly run: string;
  readonly format: 'jsonl' | 'csv';
  readonly onProblem: (problem: string) => void;
  readonly children: string;
}

/** A link that first checks whether the download works, as a browser doesn't show why one was refused. */
function Download({ run, format, onProblem, children }: DownloadProps) {
  const isChecked = useRef(false);
  const path = `${pathOf('api/runs', run, 'records')}?format=${format}`;
  const check = async (link: HTMLAnchorElement): Promise<void> => {
    onProblem('');
    try {
      await expectDownload(path);
      isChecked.current = true;
      link.click();
    } catch (error: unknown) {
      onProblem(sentenceOf(error));
    }
  };
  return (
    <a
      class="button"
      href={path}
      download={`${run}.${format}`}
      onClick={(event) => {
        if (!isChecked.current) {
          event.preventDefault();
          void check(event.currentTarget);
        }
        isChecked.current = false;
      }}
    >
      {children}
    </a>
  );
}
