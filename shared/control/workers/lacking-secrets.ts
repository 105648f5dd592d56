import type { LiveWorker } from '../../ports/roster.ts';
import { counted } from '../format.ts';

/** Returns a sentence for each crawler and each set of its secrets that workers lack in their environment: they leave its tasks to others. */
export function lackingSecrets(workers: readonly Pick<LiveWorker, 'lacking'>[]): readonly string[] {
  const all = workers.flatMap(({ lacking = {} }) =>
    Object.entries(lacking).map(([crawler, names]) => `${names.join(', ')}, for crawler ${crawler}`),
  );
  return [...new Set(all)].sort().map((what) => {
    const lack = all.filter((each) => each === what).length;
    return `${counted(lack, 'worker lacks', 'workers lack')} ${what}: its tasks are left to others`;
  });
}
