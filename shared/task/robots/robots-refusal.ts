import { shortened } from '../shortened.ts';
import { ROBOTS_TOKEN } from './robots.ts';
import { decide, type RobotsRules } from './robots-match.ts';

/** Maximum characters of a rule in a message: a rule may be as long as a URL. */
const MOST_SHOWN = 200;

/** Says why rules forbid a URL, with the rule that decides; nothing if they allow it. */
export function robotsRefusal(rules: RobotsRules, url: string): string | undefined {
  const { isAllowed, rule } = decide(rules, url);
  if (isAllowed) return undefined;
  if (rule === undefined) return 'robots.txt forbids it, since comparing its rules takes too long';
  const { kind, pattern } = rule;
  const agent = rules.isOurs ? ROBOTS_TOKEN : '*';
  return `robots.txt forbids it (User-agent: ${agent}, ${kind}: ${shortened(pattern, MOST_SHOWN)})`;
}
