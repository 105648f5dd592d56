import { expect, test } from 'vitest';
import { CookieJar } from '../../../../shared/cookies/cookie-jar.ts';
import { MAX_COOKIE_LINES_LENGTH, MOST_COOKIE_LINES, withCookies } from '../../../../shared/task/task/cookie-lines.ts';

// biome-ignore format: a table
test.each([
  ['http://a.example/x',        'id=1',                              'http://a.example/y',          'id=1'],
  ['http://a.example/x',        'id=1',                              'https://a.example/',          'id=1'],
  ['http://a.example/x',        'id=1',                              'http://b.example/',           undefined],
  ['http://a.example/x',        'id=1',                              'http://sub.a.example/',       undefined],
  ['http://a.example/x',        'id=1',                              'http://a.example:8080/',      undefined],
  ['http://127.0.0.1:81/',      'id=1',                              'http://127.0.0.1:82/',        undefined],
  ['http://127.0.0.1:81/',      'id=1',                              'http://127.0.0.1:81/a',       'id=1'],
  ['http://localhost:81/',      'id=1',                              'http://localhost:81/a',       'id=1'],
  ['http://www.a.com/',         'id=1; Domain=a.com',                'http://shop.a.com/',          'id=1'],
  ['http://www.a.com/',         'id=1; Domain=com',                  'http://b.com/',               undefined],
  ['http://www.a.co.uk/',       'id=1; Domain=co.uk',                'http://b.co.uk/',             undefined],
  ['http://www.a.com/',         'id=1; Domain=b.com',                'http://b.com/',               undefined],
  ['http://me.github.io/',      'id=1; Domain=github.io',            'http://you.github.io/',       undefined],
  ['http://wiki/',              'id=1; Domain=wiki',                 'http://wiki/a',               'id=1'],
  ['http://wiki/',              'id=1; Domain=.Wiki',                'http://wiki/a',               'id=1'],
  ['http://wiki/',              'id=1; Domain=wiki',                 'http://sub.wiki/',            undefined],
  ['http://wiki/',              'id=1; Domain=wiki; Secure',         'https://wiki/',               undefined],
  ['http://github.io/',         'id=1; Domain=github.io',            'http://github.io/',           'id=1'],
  ['http://github.io/',         'id=1; Domain=github.io',            'http://me.github.io/',        undefined],
  ['http://a.example./',        'id=1',                              'http://a.example./x',         'id=1'],
  ['http://a.example./',        'id=1',                              'http://a.example/',           undefined],
  ['http://a.example/',         'id=1',                              'http://a.example./',          undefined],
  ['http://wiki./',             'id=1; Domain=wiki',                 'http://wiki./',               'id=1'],
  ['https://a.example/',        'id=1; Secure',                      'http://a.example/',           undefined],
  ['https://a.example/',        'id=1; Secure; HttpOnly',            'https://a.example/',          'id=1'],
  ['http://a.example/',         '__Secure-id=1; Secure',             'https://a.example/',          undefined],
  ['https://a.example/',        '__Host-id=1; Secure; Path=/',       'https://a.example/x',         '__Host-id=1'],
  ['https://a.example/',        '__host-id=1; Path=/',               'https://a.example/',          undefined],
  ['https://a.example/',        '__HOST-id=1; Secure',               'https://a.example/',          undefined],
  ['https://www.a.com/',        '__hOST-id=1; Secure; Path=/; Domain=a.com', 'https://b.a.com/',    undefined],
  ['https://github.io/',        '__Host-id=1; Secure; Path=/; Domain=github.io', 'https://github.io/', undefined],
  ['http://a.example/',         '__secure-id=1',                     'https://a.example/',          undefined],
  ['http://a.example/',         '=__Secure-id=1',                    'https://a.example/',          undefined],
  ['https://a.example/',        '__Host-id; Secure; Path=/',         'https://a.example/',          undefined],
  ['https://a.example/',        '__Http-id=1; Secure; HttpOnly',     'https://a.example/',          '__Http-id=1'],
  ['https://a.example/',        '__http-id=1; Secure',               'https://a.example/',          undefined],
  ['https://a.example/',        '__Http-id=1; HttpOnly',             'https://a.example/',          undefined],
  ['https://a.example/',        '__Host-Http-id=1; Secure; HttpOnly; Path=/', 'https://a.example/x', '__Host-Http-id=1'],
  ['https://a.example/',        '__Host-HTTP-id=1; Secure; Path=/',  'https://a.example/',          undefined],
  ['https://www.a.com/',        '__Host-Http-id=1; Secure; HttpOnly; Path=/; Domain=a.com', 'https://www.a.com/', undefined],
  ['http://a.example/',         '=__Http-id=1',                      'https://a.example/',          undefined],
  ['http://a.example/',         '=id',                               'http://a.example/',           'id'],
  ['http://a.example/',         'id=1; Domain=xn--é',                'http://a.example/',           undefined],
  ['http://a.example/x/y',      'id=1; Path=/x',                     'http://a.example/z',          undefined],
  ['http://a.example/my%20app/', 'id=1; Path=/my%20app',             'http://a.example/my%20app/y', 'id=1'],
  ['http://a.example/a%C3%A9/', 'id=1; Path=/a%C3%A9',               'http://a.example/a%C3%A9/y',  'id=1'],
  ['http://a.example/a%25/',    'id=1; Path=/a%25',                  'http://a.example/a%25',       'id=1'],
  ['http://a.example/a%E9/x',   'id=1',                              'http://a.example/a%E9/y',     'id=1'],
  ['http://a.example/a%20/x',   'id=1',                              'http://a.example/a%20b',      undefined],
  ['http://a.example/',         'id=1; Max-Age=0',                   'http://a.example/',           undefined],
  ['http://a.example/',         'id=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'http://a.example/', undefined],
  ['http://a.example/',         'no sense',                          'http://a.example/',           'no sense'],
  ['http://a.example/',         `id=${'1'.repeat(4_094)}; HttpOnly`, 'http://a.example/',           `id=${'1'.repeat(4_094)}`],
  ['http://a.example/',         `id=${'1'.repeat(4_095)}; HttpOnly`, 'http://a.example/',           undefined],
])('%s sets %s: %s gets %s', async (from, line, to, sent) => {
  const jar = new CookieJar();
  await jar.keep(from, [line]);
  expect(jar.headerFor(to)).toBe(sent);
});

test.each(['', '=', ' = ', '; Path=/'])('a cookie without name and value, %j, is not sent', async (line) => {
  const jar = new CookieJar();
  await jar.keep('http://a.example/', ['a=1', line, 'b=2']);
  expect(jar.headerFor('http://a.example/')).toBe('a=1; b=2');
});

test('a newer cookie takes the place of the older one', async () => {
  const jar = await CookieJar.of([
    ['http://a.example/', 'a=1'],
    ['http://a.example/', 'b=2'],
    ['http://a.example/', 'a=3'],
  ]);
  expect(jar.headerFor('http://a.example/')?.split('; ').toSorted()).toEqual(['a=3', 'b=2']);
});

test('a jar is bounded: the oldest cookies are dropped', async () => {
  const jar = new CookieJar();
  for (let n = 0; n < 400; n++) await jar.keep('http://a.example/', [`c${n}=1`]);
  const names = (jar.headerFor('http://a.example/') ?? '').split('; ');
  expect(names).toHaveLength(300);
  expect(names).not.toContain('c99=1');
  for (let n = 0; n < 60; n++) await jar.keep('http://a.example/', [`big${n}=${'x'.repeat(4_000)}`]);
  const header = jar.headerFor('http://a.example/') ?? '';
  expect(header.length).toBeLessThan(131_072);
  expect(header).toContain('big59=');
  expect(header).not.toContain('c399=1');
});

test('of one answer, the first 50 cookies are read', async () => {
  const jar = new CookieJar();
  await jar.keep(
    'http://a.example/',
    Array.from({ length: 60 }, (_, n) => `c${n}=1`),
  );
  const names = jar.headerFor('http://a.example/')?.split('; ');
  expect([names?.length, names?.at(-1)]).toEqual([50, 'c49=1']);
});

test.each([
  ['cookies', (n: number) => `c${n}=1`],
  ['bytes', (n: number) => `c${n}=${'x'.repeat(4_000)}`],
])('a site that sets many %s, from however many hosts, costs no other site its login', async (_, line) => {
  const jar = new CookieJar();
  await jar.keep('https://shop.example/', [`id=${'s'.repeat(1_000)}; Secure`, 'more=1']);
  for (let n = 0; n < 400; n++)
    await jar.keep(`http://h${n}.flood.example/`, [`${line(n)}; Domain=flood.example`, line(n)]);
  expect(jar.headerFor('https://shop.example/')).toMatch(/^id=s{1000}; more=1$/);
  expect(jar.headerFor('http://h399.flood.example/')).toContain('c399=');
});

test('the site whose cookies take the most bytes loses some, not the site that has more of them', async () => {
  const jar = new CookieJar();
  for (let n = 0; n < 100; n++) await jar.keep('http://small.example/', [`s${n}=1`]);
  for (let n = 0; n < 50; n++) await jar.keep('http://large.example/', [`l${n}=${'x'.repeat(4_000)}`]);
  expect(jar.headerFor('http://small.example/')?.split('; ')).toHaveLength(100);
  const large = jar.headerFor('http://large.example/');
  expect([large?.includes('l0='), large?.includes('l49=')]).toEqual([false, true]);
});

test.each([
  ['http://a.example/', 'id=theirs'],
  ['http://a.example/below', 'id=theirs; Path=/below'],
  ['http://sub.a.example/', 'id=theirs; Domain=a.example'],
])('what %s sets over http, %s, takes the place of no cookie that https has set as Secure', async (from, line) => {
  const jar = new CookieJar();
  await jar.keep('https://a.example/', ['id=ours; Secure; Domain=a.example', 'plain=1; Domain=a.example']);
  await jar.keep(from, [line, 'plain=2; Domain=a.example']);
  expect(jar.headerFor('https://a.example/below')).toMatch(/^id=ours; plain=2$|^plain=2; id=ours$/);
  await jar.keep('https://a.example/', ['id=new; Secure; Domain=a.example']);
  expect(jar.headerFor('https://a.example/below')).toContain('id=new');
});

// biome-ignore format: a table
test.each([
  ['https://a.example/',      'id=ours; Secure', 'http://nota.example/',   'id=1'],
  ['https://a.example:8443/', 'id=ours; Secure', 'http://a.example:8080/', 'id=1'],
  ['https://www.a.example/',  'id=ours; Secure', 'http://a.example/',      undefined],
])('a Secure cookie of %s, %s, leaves %s over http with %s', async (from, line, to, kept) => {
  const jar = new CookieJar();
  await jar.keep(from, [line]);
  await jar.keep(to, ['id=1']);
  expect(jar.headerFor(to)).toBe(kept);
});

test('a cookie that is set again and again counts once, as the newest', async () => {
  const jar = new CookieJar();
  await jar.keep('http://a.example/', ['again=0', 'once=1']);
  for (let n = 0; n < 100; n++) await jar.keep('http://a.example/', [`again=${'x'.repeat(4_000)}`]);
  expect(jar.headerFor('http://a.example/')).toMatch(/^again=x{4000}; once=1$/);
  for (let n = 0; n < 299; n++) await jar.keep('http://a.example/', [`c${n}=1`]);
  const names = jar.headerFor('http://a.example/')?.split('; ') ?? [];
  expect([names.length, names.includes('once=1'), names[0]?.startsWith('again=')]).toEqual([300, false, true]);
});

test('answers that set the first cookies of a jar at once lose none', async () => {
  const jar = new CookieJar();
  await Promise.all(['a=1', 'b=2'].map((line) => jar.keep('http://a.example/', [line])));
  expect(jar.headerFor('http://a.example/')?.split('; ').toSorted()).toEqual(['a=1', 'b=2']);
});

test('where there are too many cookies, the site that has most of them loses one, not the site whose are the largest', async () => {
  const jar = new CookieJar();
  for (let n = 0; n < 4; n++) await jar.keep('http://large.example/', [`l${n}=${'x'.repeat(4_000)}`]);
  for (let n = 0; n < 2; n++) await jar.keep('http://other.example/', [`o${n}=1`]);
  for (let n = 0; n < 299; n++) await jar.keep('http://many.example/', [`m${n}=1`]);
  expect(jar.headerFor('http://large.example/')).toMatch(/^l0=x+; l1=x+; l2=x+; l3=x+$/);
  expect(jar.headerFor('http://many.example/')?.split('; ')).toHaveLength(294);
});

test('the cookies that a task carries are bounded: the newest stay', () => {
  const many = withCookies(
    undefined,
    'http://a.example/',
    Array.from({ length: 90 }, (_, n) => `c${n}=1`),
  );
  expect(many).toHaveLength(MOST_COOKIE_LINES);
  expect(many?.at(-1)).toEqual(['http://a.example/', 'c89=1']);
  const long = withCookies(many, 'http://a.example/', [`big=${'x'.repeat(MAX_COOKIE_LINES_LENGTH - 60)}`]);
  expect(long?.[0]?.[1]).not.toBe('c40=1');
  expect(long?.at(-1)?.[1]).toMatch(/^big=/);
  expect(withCookies(undefined, 'http://a.example/', ['x'.repeat(MAX_COOKIE_LINES_LENGTH)])).toBe(undefined);
});
