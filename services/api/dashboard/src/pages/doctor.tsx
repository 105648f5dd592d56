import { useAnswer } from '../api/answer.ts';
import type { Finding } from '../api/answers.ts';
import { commandLine } from '../command-line.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Other } from '../parts/other.tsx';
import { Awaited, Page } from '../parts/page.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';

/** Lists what is wrong with the set-up, and how to fix it. */
export function Doctor() {
  const { answer, problem, isLoading, again } = useAnswer<{ ok: boolean; findings: readonly Finding[] }>('api/doctor');
  const findings = (answer?.findings ?? []).map((finding, index) => ({ ...finding, index }));
  return (
    <Page
      title="Doctor"
      aside={
        <button type="button" class="small" onClick={again}>
          Check again
        </button>
      }
    >
      <Awaited problem={problem} isLoading={isLoading}>
        {answer !== undefined && <p>{answer.ok ? 'No problem was found.' : 'Something needs fixing.'}</p>}
        <Table
          label="Findings"
          rows={findings}
          keyOf={({ what, index }) => `${what} ${index}`}
          none="Nothing was checked."
          columns={[
            { name: 'What', of: ({ what }) => what, isHead: true },
            { name: 'State', of: ({ state }) => <State of={state} /> },
            { name: 'Details', of: ({ said }) => <Other>{said}</Other> },
          ]}
        />
      </Awaited>
      <CommandLine text={commandLine('doctor')} />
    </Page>
  );
}
