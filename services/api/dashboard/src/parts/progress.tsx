import { count } from '../../../../../shared/control/format.ts';
import type { Run } from '../api/answers.ts';

const HUNDRED = 100;

/** The progress of a run: the shares done, skipped and failed of its discovered tasks. */
export function Progress({ run }: { readonly run: Run }) {
  const { discovered, done, skipped, failed, cancelled } = run;
  const ended = done + skipped + failed + cancelled;
  const share = (part: number): number => (discovered === 0 ? 0 : (part / discovered) * HUNDRED);
  const parts = [
    { name: 'done', from: 0, width: share(done) },
    { name: 'skipped', from: share(done), width: share(skipped + cancelled) },
    { name: 'failed', from: share(done + skipped + cancelled), width: share(failed) },
  ];
  return (
    <span class="progress">
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ name, from, width }) => (
          <rect key={name} class={name} x={from} y="0" width={width} height="4" />
        ))}
      </svg>
      <span>
        {count(ended)} / {count(discovered)}
      </span>
    </span>
  );
}
