import { expect, test } from 'vitest';
import { warnOfIdleFlags } from '../../../../../services/cli/process/idle-flags.ts';
import type { Seed } from '../../../../../services/producer/seeds.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { settingsFrom } from '../../../../../shared/settings/settings.ts';
import { LogLines } from '../../../../support/stores/embedded.ts';

const PAGE = defineCrawler({ name: 'page', step: () => ({}) });
const STEPS = defineCrawler({ name: 'steps', steps: { list: { run() {} } } });

const PAGES: Seed[] = [{ kind: 'page', url: 'https://a.test/1' }, { kind: 'input' }];
const SITE: Seed[] = [...PAGES, { kind: 'site', url: 'https://a.test/' }];

test.each<[string, Record<string, string>, typeof PAGE, string | undefined, Seed[]?]>([
  [
    'link limits without --follow',
    { INCLUDE: '/news/*', MAX_PAGES: '9', CONTENT: 'text' },
    PAGE,
    '--max-pages, --include',
  ],
  ['link limits without --follow, with a sitemap', { INCLUDE: '/news/*', MAX_PAGES: '9' }, PAGE, '--max-pages', SITE],
  ['patterns with a sitemap', { INCLUDE: '/news/*', EXCLUDE: '*.pdf' }, PAGE, undefined, SITE],
  [
    'patterns with a robots.txt',
    { INCLUDE: '/news/*' },
    PAGE,
    undefined,
    [{ kind: 'robots', url: 'https://a.test/robots.txt' }],
  ],
  ['link limits with --follow', { INCLUDE: '/news/*', FOLLOW: 'true' }, PAGE, undefined],
  ['steps, which follow links themselves', { INCLUDE: '/news/*' }, STEPS, undefined],
  ['no such flag', { CONTENT: 'text' }, PAGE, undefined],
])('flags without effect are warned about: %s', (_, flags, crawler, named, seeds = PAGES) => {
  const log = new LogLines();
  warnOfIdleFlags(crawler, seeds, {
    settings: settingsFrom({ flag: flags, environment: { EXCLUDE: '*' }, file: {} }),
    flags,
    log,
  });
  const said =
    'warn: without --follow no links are followed, and all seeds are crawled (--limit bounds them); without effect:';
  expect(log.lines).toEqual(named === undefined ? [] : [`${said} ${named}`]);
});
