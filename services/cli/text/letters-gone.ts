import { TRAWL } from '../../../shared/runtime/started-as.ts';

/** Says where failures are found that have no dead letter, and how to crawl them again. RabbitMQ reports no letter that it drops. */
export function lettersGone(run = 'RUN'): string {
  const records = `${TRAWL} records ${run} --failed`;
  return `Failures whose letters have expired (24 h), or were dropped by a policy or by hand: ${records}. To crawl them again: ${records} --format csv --fields url | ${TRAWL} produce -`;
}
