import { shortened } from '../shortened.ts';
import { ROBOTS_TOKEN } from './robots.ts';
import { decide, type RobotsRules } from './robots-match.ts';

/** Characters of a rule that are shown: one may be as long as a URL. */
const MOST_SHOWN = 200;

/** Why rules forbid a URL, with the rule that decides; nothing if they don't. */
export function robotsRefusal(rules: RobotsRules, url: string): string | undefined {
  const { isAllowed, rule } = decide(rules, url);
  if (isAllowed) return undefined;
  if (rule === undefined) return 'robots.txt forbids it, since comparing its rules takes too long';
  const { kind, pattern } = rule;
  const agent = rules.isOurs ? ROBOTS_TOKEN : '*';
  return `robots.txt forbids it (User-agent: ${agent}, ${kind}: ${shortened(pattern, MOST_SHOWN)})`;
}
