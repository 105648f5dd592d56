import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRobots } from '../../../../../shared/task/robots/robots.ts';
import { decide, MAX_STEPS, matches } from '../../../../../shared/task/robots/robots-match.ts';

const OURS = 'User-agent: TrawlBot\n';

function may(robots: string | Uint8Array, path: string): boolean {
  return decide(parseRobots(Buffer.from(robots)), new URL(path, 'https://a.test/').href).isAllowed;
}

// biome-ignore format: a table
test.each([
  ['Disallow: /private',                  '/private',             false],
  ['Disallow: /private',                  '/privateer/1',         false],
  ['Disallow: /private',                  '/Private',             true],
  ['Disallow: /private',                  '/public',              true],
  ['Disallow:',                           '/',                    true],
  ['Disallow: /',                         '/robots.txt',          true],
  ['Disallow: /',                         '/robots.txt?x',        false],
  ['Disallow: /a\nAllow: /a/b',           '/a/b/c',               true],
  ['Disallow: /a/b\nAllow: /a',           '/a/b',                 false],
  ['Disallow: /same\nAllow: /same',       '/same',                true],
  ['Disallow: /same\nAllow: /else',       '/same',                false],
  ['Disallow: /*e\nAllow: /a/\nAllow: /b', '/same',               false],
  ['Disallow: /*.pdf$',                   '/x/y.pdf',             false],
  ['Disallow: /*.pdf$',                   '/x/y.pdf?page=2',      true],
  ['Disallow: *?session=',                '/a?session=1',         false],
  ['Disallow: /a*b*c',                    '/a-b-b-c-d',           false],
  ['Disallow: /a*b*c$',                   '/a-b-c-c',             false],
  ['Disallow: /a*b*c$',                   '/a-b-c-d',             true],
  ['Disallow: /price$list',               '/price$list',          false],
  ['Disallow: /price%24',                 '/price$list',          false],
  ['Disallow: /*%2A',                     '/a*',                  false],
  ['Disallow: /%2A',                      '/abc',                 true],
  ['Disallow: /a%3cd',                    '/a%3Cd',               false],
  ['Disallow: /a b',                      '/a b',                 false],
  ['Disallow: /a b',                      '/a%20b',               false],
  ['Disallow: /%7Ejoe',                   '/~joe',                false],
  ['Disallow: /a%2Fb',                    '/a/b',                 true],
  ['Disallow: /ツ',                       '/ツ',                  false],
  ['Disallow: /%e3%83%84',                '/ツ',                  false],
  ['Disallow: /*?q=it\'s',                '/?q=it\'s',            false],
  ['Disallow: /%zz',                      '/%zz',                 false],
  ['Disallow: private',                   '/private',             true],
  ['Disallow: /a # not /b',               '/b',                   true],
  ['Disallow /no-colon',                  '/no-colon',            false],
  ['Disallow nothing at all',             '/nothing',             true],
  ['Dissalow: /x',                        '/x',                   false],
])('%j: may %s be fetched? %j', (rules, path, allowed) => {
  expect(may(OURS + rules, path)).toBe(allowed);
});

// biome-ignore format: a table
test.each([
  ['no group at all',                          'Disallow: /',                                                              true],
  ['a group for everybody',                    'User-agent: *\nDisallow: /',                                               false],
  ['a group for us that is empty',             'User-agent: *\nDisallow: /\n\nUser-agent: TrawlBot\n',                     true],
  ['a group for another',                      'User-agent: Other\nDisallow: /',                                           true],
  ['our name in another case, with a version', 'User-agent: trawlbot/2.0\nDisallow: /',                                    false],
  ['our name with a star',                     'User-agent: TrawlBot*\nDisallow: /',                                       false],
  ['our name with a semicolon',                'User-agent: TrawlBot;\nDisallow: /',                                       false],
  ['our name in quotes',                       'User-agent: "TrawlBot"\nDisallow: /',                                     false],
  ['our name among others, by semicolons',     'User-agent: Other;TrawlBot;Third\nDisallow: /',                           false],
  ['our name as browsers write it',            'User-agent: Mozilla (compatible; TrawlBot/1.0)\nDisallow: /',             false],
  ['everybody in quotes',                      'User-agent: "*"\nDisallow: /',                                            false],
  ['a pattern that ours might match',          'User-agent: Trawl*Bot\nDisallow: /',                                      true],
  ['a name that begins with ours',             'User-agent: TrawlBotNews\nDisallow: /',                                    true],
  ['a name that is the beginning of ours',     'User-agent: Trawl\nDisallow: /',                                           true],
  ['several names in a line',                  'User-agent: Other, TrawlBot\nDisallow: /',                                 false],
  ['agents one below the other',               'User-agent: TrawlBot\nUser-agent: Other\nDisallow: /',                     false],
  ['two groups for us',                        'User-agent: TrawlBot\nAllow: /b\nUser-agent: Other\nAllow: /\nUser-agent: TrawlBot\nDisallow: /', false],
  ['a sitemap between agent and rule',         'User-agent: TrawlBot\nSitemap: https://a.test/s.xml\nDisallow: /',         false],
  ['an unknown line between agents',           'User-agent: TrawlBot\nNoindex: /x\nUser-agent: *\nDisallow: /',            false],
  ['a delay between agents',                   'User-agent: TrawlBot\nCrawl-delay: 1\nUser-agent: *\nDisallow: /',         false],
  ['empty lines within a group',               'User-agent: TrawlBot\n\n\nDisallow: /',                                    false],
  ['lines that end in CR',                     'User-agent: TrawlBot\rDisallow: /\r',                                      false],
  ['a byte order mark before it',              '\uFEFFUser-agent: TrawlBot\nDisallow: /',                                  false],
  ['an HTML page instead',                     '<!doctype html><html><body>Disallow: all of it</body></html>',             true],
  ['an empty file',                            '',                                                                         true],
])('which rules apply to us: %s', (_, robots, allowed) => {
  expect(may(robots, '/page')).toBe(allowed);
});

test('a file in UTF-16 is decoded', () => {
  const text = `\uFEFF${OURS}Disallow: /ツ`;
  const littleEndian = Buffer.from(text, 'utf16le');
  expect(may(littleEndian, '/ツ')).toBe(false);
  expect(may(Buffer.from(littleEndian).swap16(), '/ツ')).toBe(false);
});

// The last octet of the first character of each pair is A0, which is white space in ISO 8859-1.
test.each([
  ['à', 'é'],
  ['Š', 'š'],
  ['†', '‡'],
])('a rule that ends in %s keeps its last octet, and does not match a path that ends in %s', (end, other) => {
  for (const rule of ['Disallow: /voil', 'Disallow /voil']) {
    expect([may(`${OURS}${rule}${end}`, `/voil${end}`), may(`${OURS}${rule}${end}`, `/voil${other}`)]).toEqual([
      false,
      true,
    ]);
  }
  expect(may(`${OURS}Disallow: /\nAllow: /voil${end}`, `/voil${other}`)).toBe(false);
});

test('ASCII white space around a rule is not part of it', () => {
  expect(may(`${OURS}\v Disallow\f:\t /a \v\f`, '/a')).toBe(false);
});

test('octets that are not UTF-8 are compared as they are', () => {
  const robots = Buffer.concat([Buffer.from(`${OURS}Disallow: /caf`), Buffer.from([0xe9])]);
  expect([may(robots, '/caf%E9'), may(robots, '/café')]).toEqual([false, true]);
});

// biome-ignore format: a table
test.each([
  ['Crawl-delay: 5',                      5_000],
  ['crawl-delay: 0.25',                   250],
  ['Crawl-delay: 3600',                   3_600_000],
  ['Crawl-delay: 0',                      0],
  ['Crawl-delay: 2\nCrawl-delay: 7',      7_000],
  ['Crawl-delay: 7\nCrawl-delay: 2',      7_000],
  ['Crawl-delay: 7\nUser-agent: *\nCrawl-delay: 9',  7_000],
  [`Crawl-delay: ${'9'.repeat(400)}`,     Number.MAX_SAFE_INTEGER],
  ['Crawl-delay: 5 s',                    undefined],
  ['Crawl-delay: -5',                     undefined],
  ['Crawl-delay:',                        undefined],
  ['User-agent: Other\nCrawl-delay: 5',   5_000],
  ['Disallow: /\nUser-agent: Other\nCrawl-delay: 5', undefined],
])('%j asks for %s ms between two requests', (lines, ms) => {
  expect(parseRobots(Buffer.from(OURS + lines)).crawlDelayMs).toBe(ms);
});

// biome-ignore format: a table
test.each([
  ['Crawl-delay: 5',                                             5_000],
  ['Crawl-delay: 7\nCrawl-delay: 2',                            7_000],
  ['Disallow: /a\nUser-agent: *\nCrawl-delay: 3',              3_000],
  ['Crawl-delay: 3\nUser-agent: Other\nCrawl-delay: 9',        3_000],
  ['Crawl-delay: 5\nUser-agent: TrawlBot\nDisallow: /a',       undefined],
  ['Crawl-delay: 5\nUser-agent: TrawlBot\nCrawl-delay: 1',     1_000],
])('%j for everybody means %s ms between two of our requests', (lines, ms) => {
  expect(parseRobots(Buffer.from(`User-agent: *\n${lines}`)).crawlDelayMs).toBe(ms);
});

describe('a file made to be slow', () => {
  const url = `https://a.test/${'a'.repeat(8_000)}`;

  function stepsOf(lines: string): { readonly allowed: boolean; readonly steps: number } {
    const budget = { left: MAX_STEPS };
    const allowed = decide(parseRobots(Buffer.from(OURS + lines)), url, budget).isAllowed;
    return { allowed, steps: MAX_STEPS - budget.left };
  }

  test('a pattern with four thousand stars compares each octet of the URL at most twice', () => {
    const { allowed, steps } = stepsOf(`Disallow: /${'a*'.repeat(4_000)}b`);
    expect(allowed).toBe(true);
    expect(steps).toBeLessThan(2 * url.length);
  });

  test.each([
    ['one long tail after a star', `Disallow: /*${'a'.repeat(4_000)}b`, 1],
    ['ten thousand patterns', Array.from({ length: 10_000 }, (_, n) => `Disallow: /*a*a${n}b`).join('\n'), 10_000],
  ])('%s: comparing stops when the budget is used up, and the page is not allowed', (_, lines, patterns) => {
    const { allowed, steps } = stepsOf(lines);
    expect(allowed).toBe(false);
    expect(steps).toBeLessThanOrEqual(MAX_STEPS + patterns);
  });

  test('a thousand usual rules take less than a fiftieth of the budget', () => {
    const lines = Array.from({ length: 1_000 }, (_, n) => `Disallow: /*/section-${n}/*.html$`).join('\n');
    const budget = { left: MAX_STEPS };
    expect(
      decide(parseRobots(Buffer.from(OURS + lines)), 'https://a.test/news/2026/a-page.html', budget).isAllowed,
    ).toBe(true);
    expect(MAX_STEPS - budget.left).toBeLessThan(MAX_STEPS / 50);
  });
});

// biome-ignore format: a table
test.each<[string, string, object]>([
  ['Disallow: /a\nDisallow: /a/b',          '/a/b/c',       { isAllowed: false, rule: { kind: 'Disallow', pattern: '/a/b' } }],
  ['Disallow: /a\nAllow: /a/b\nAllow: /',   '/a/b/c',       { isAllowed: true, rule: { kind: 'Allow', pattern: '/a/b' } }],
  ['Disallow: /a/b\nAllow: /a',             '/a/b',         { isAllowed: false, rule: { kind: 'Disallow', pattern: '/a/b' } }],
  ['Disallow: /same\nAllow: /same',         '/same',        { isAllowed: true, rule: { kind: 'Allow', pattern: '/same' } }],
  ['Dissalow: /caf\u00e9/***x',              '/caf%C3%A9/x', { isAllowed: false, rule: { kind: 'Disallow', pattern: '/caf%C3%A9/*x' } }],
  ['Disallow: /private\nAllow: /',          '/public',      { isAllowed: true }],
  ['Disallow: /',                           '/robots.txt',  { isAllowed: true }],
  [`Disallow: /*${'a'.repeat(4_000)}b`,     `/${'a'.repeat(8_000)}`, { isAllowed: false }],
])('%j decides about %s by the longest rule that matches', (lines, path, decision) => {
  const rules = parseRobots(Buffer.from(OURS + lines));
  expect(decide(rules, new URL(path, 'https://a.test/').href)).toEqual(decision);
});

test('rules know whether they come from a group that names us', () => {
  expect(parseRobots(Buffer.from(`User-agent: *\nDisallow: /\n\n${OURS}Disallow: /a`))).toMatchObject({
    disallow: ['/a'],
    isOurs: true,
  });
  expect(parseRobots(Buffer.from('User-agent: *\nDisallow: /'))).not.toHaveProperty('isOurs');
});

test('stars in a row count as one', () => {
  const { disallow } = parseRobots(Buffer.from(`${OURS}Disallow: /a***b`));
  expect(disallow).toEqual(['/a*b']);
});

describe('whatever the file is', () => {
  const line = fc.oneof(
    fc.constantFrom(
      'User-agent: TrawlBot',
      'User-agent: *',
      'Allow: /',
      'Disallow: /*?',
      'Crawl-delay: 1',
      '',
      '#',
      ':',
    ),
    fc.string({ unit: 'binary' }).map((text) => `Disallow: /${text}`),
    fc.string({ unit: 'binary' }),
  );
  const file = fc.array(line).map((lines) => lines.join('\n'));

  test('reading it gives rules that decide about any URL', () => {
    fc.assert(
      fc.property(
        fc.oneof(file.map(Buffer.from), fc.uint8Array()),
        fc.webUrl({ withQueryParameters: true }),
        (bytes, url) => {
          const rules = parseRobots(bytes);
          expect(rules.allow.concat(rules.disallow).every((pattern) => pattern !== '')).toBe(true);
          expect(typeof decide(rules, new URL(url).href).isAllowed).toBe('boolean');
        },
      ),
      { numRuns: 500 },
    );
  });

  test('its rules read the same when written to a file again', () => {
    fc.assert(
      fc.property(file, (text) => {
        const rules = parseRobots(Buffer.from(text));
        const again = [
          'User-agent: TrawlBot',
          ...rules.allow.map((pattern) => `Allow: ${pattern}`),
          ...rules.disallow.map((pattern) => `Disallow: ${pattern}`),
        ].join('\n');
        const { allow, disallow } = parseRobots(Buffer.from(again));
        expect({ allow, disallow }).toEqual({ allow: rules.allow, disallow: rules.disallow });
      }),
      { numRuns: 300 },
    );
  });

  test('a pattern matches what the equivalent regular expression matches', () => {
    const small = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 });
    fc.assert(
      fc.property(small, fc.boolean(), path, (pattern, isAnchored, path) => {
        const meant = new RegExp(`^${pattern.replaceAll('*', '.*')}${isAnchored ? '$' : ''}`);
        expect(matches(pattern + (isAnchored ? '$' : ''), path, { left: MAX_STEPS })).toBe(meant.test(path));
      }),
      { numRuns: 2_000 },
    );
  });
});
