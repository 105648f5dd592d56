import { count, counted } from '../../../shared/control/format.ts';
import { hasMaxPages, MOST_ROUNDS, type RunProgress } from '../../../shared/ports/runs.ts';

type LeftOutOf = Pick<RunProgress, 'leftOut' | 'options' | 'discovered' | 'steps'>;

/** Describes the links that a run left out: a sentence for each reason, with the flag that changes it. */
export function leftOutLines(progress: LeftOutOf): string[] {
  const { leftOut, options } = progress;
  const { depth, scope, maxPages, limit, condition } = leftOut;
  const lines: string[] = [];
  if (limit > 0)
    lines.push(
      `It took its first ${count(options.limit ?? 0)} URLs: ${count(limit)} more ${were(limit)} left out (--limit).`,
    );
  if (hasMaxPages(progress)) {
    const links = maxPages > 0 ? `: ${counted(maxPages, 'link')} ${were(maxPages)} left out` : '';
    lines.push(`It reached its limit of ${count(options.maxPages ?? 0)} pages${links} (--max-pages).`);
  }
  if (depth > 0) {
    const [most, why] = depthText(options);
    lines.push(`${counted(depth, 'link')} more than ${most} deep ${were(depth)} left out (${why}).`);
  }
  if (scope > 0)
    lines.push(`${counted(scope, 'link')} outside its scope ${were(scope)} left out (${scopeFlags(options)}).`);
  if (condition > 0)
    lines.push(`${counted(condition, 'link')} ${were(condition)} left out by the conditions of the crawler's steps.`);
  return lines;
}

/** How deep links are followed, and why no deeper. If the depth is not set, links of steps are limited only by the number of rounds. */
function depthText({
  maxDepth,
  hasDefaultDepth,
  follow,
}: RunProgress['options']): readonly [most: string, why: string] {
  if (hasDefaultDepth !== true) return [String(maxDepth), '--max-depth'];
  const most = follow ? String(maxDepth) : `${count(MOST_ROUNDS)} rounds`;
  return [most, 'the default depth; --max-depth changes it'];
}

/** The flags that limit where links may lead. */
function scopeFlags({ scope = 'host', include = [], exclude = [], maxHostsPerDomain }: RunProgress['options']): string {
  const flags = [
    `--scope ${scope}`,
    include.length > 0 ? '--include' : '',
    exclude.length > 0 ? '--exclude' : '',
    scope === 'domain' && maxHostsPerDomain !== undefined ? `--max-hosts-per-domain ${maxHostsPerDomain}` : '',
  ];
  return flags.filter((flag) => flag !== '').join(', ');
}

function were(value: number): string {
  return value === 1 ? 'was' : 'were';
}
