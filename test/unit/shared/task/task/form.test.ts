import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_KEPT_BYTES, MAX_KEPT_DEPTH } from '../../../../../shared/task/task/fields.ts';
import { carriedFields, formOf, INITIAL_FIELDS, recordedFields, taskOf } from '../../../../../shared/task/task/form.ts';
import { readMessage, writeMessage } from '../../../../../shared/task/task/message.ts';
import { offerOf } from '../../../../../shared/task/task/offer.ts';
import { QUEUES } from '../../../../../shared/task/task/routing.ts';
import type { Task } from '../../../../../shared/task/task/task.ts';
import { type CrawlUrl, isProblem, readUrl } from '../../../../../shared/task/url/url.ts';
import { URL_KEY_RULES } from '../../../../../shared/task/url/url-key.ts';

const TASK: Task = {
  ...{ run: 'r', url: 'http://a.test/1', host: 'a.test', mark: 'http://a.test/1', step: '', queue: 'normal' },
  ...INITIAL_FIELDS,
};

// biome-ignore format: a table
test.each<[string, Partial<Task>, string]>([
  ['the page of a sitemap',                      {},                                                            ''],
  ['one of the priority queue and another host', { queue: 'priority', host: 'b.test' },                         ''],
  ['one for a step',                             { step: 'detail', mark: 'detail http://a.test/1' },            ''],
  ['one that was followed',                      { depth: 2 },                                                  '{"depth":2}'],
  ['one compared by another URL',                { mark: 'http://b.test/1' },                                   '{"url":"http://a.test/1"}'],
  ['one that was redirected',                    { redirects: ['http://b.test/\t"'] },                          '{"redirects":["http://b.test/\\t\\""]}'],
])('the form of a task holds only what its place in the store does not say: %s', (_, extra, form) => {
  const task = { ...TASK, ...extra };
  expect(formOf(task)).toBe(form);
  expect(taskOf(form, task)).toEqual(task);
});

test.each([
  '{',
  '[]',
  'null',
  '7',
  '{"depth":-1}',
  '{"depth":"1"}',
  '{"url":7}',
  '{"redirects":[]}',
  '{"logins":["u:p"]}',
])('%s is no form', (form) => {
  expect(taskOf(form, TASK)).toBeUndefined();
});

test('records have some of the fields, and a task that starts again has neither redirects nor logins', () => {
  const task = {
    ...TASK,
    depth: 1,
    within: 'a.test/',
    redirects: ['http://b.test/'],
    logins: { 'http://a.test': 'u:p' },
  };
  expect(recordedFields(task)).toEqual({ depth: 1 });
  expect(carriedFields(task)).toEqual({ depth: 1, within: 'a.test/' });
});

const anyUrl = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.constantFrom('', 'u:p@', 'u@'),
    fc.constantFrom('a.test', 'www.a.test:81', '[::1]'),
    fc.webPath(),
    fc.constantFrom('', '?b=1&a=%7e', '?utm_source=x', '#top'),
  )
  .map(([scheme, login, host, path, rest]) => readUrl(`${scheme}://${login}${host}${path}${rest}`))
  .filter((url): url is CrawlUrl => !isProblem(url));

test('any offered task comes back unchanged from a store and from a message', () => {
  fc.assert(
    fc.property(
      anyUrl,
      fc.subarray([...URL_KEY_RULES]),
      fc.record({
        step: fc.constantFrom('', 'detail'),
        queue: fc.constantFrom(...QUEUES),
        depth: fc.nat(9),
      }),
      fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
      (url, urlKey, about, within) => {
        const folder = within === undefined ? {} : { within };
        const { deadlineMs: _, ...offer } = offerOf(url, { rules: [], urlKey }, { ...about, ...folder });
        const task: Task = { run: 'r', ...offer };
        expect(taskOf(formOf(offer), task)).toEqual(task);
        expect(readMessage(Buffer.from(writeMessage(task)))).toEqual({ kind: 'task', task });
      },
    ),
  );
});

test.each([
  ['of 16 KiB', (over: number) => ({ text: 'x'.repeat(MAX_KEPT_BYTES - '{"text":""}'.length + over) })],
  [
    'of 16 KiB in UTF-8',
    (over: number) => ({ text: `${'é'.repeat((MAX_KEPT_BYTES - 12) / 2)}${'x'.repeat(1 + over)}` }),
  ],
  [
    'nested 32 deep',
    (over: number) =>
      JSON.parse(`${'{"a":'.repeat(MAX_KEPT_DEPTH + over)}1${'}'.repeat(MAX_KEPT_DEPTH + over)}`) as Readonly<
        Record<string, unknown>
      >,
  ],
])('a message may keep values %s, and no more', (_, kept) => {
  const read = (over: number) => readMessage(Buffer.from(writeMessage({ ...TASK, kept: kept(over) })));
  expect(read(0)).toEqual({ kind: 'task', task: { ...TASK, kept: kept(0) } });
  expect(read(1)).toMatchObject({ kind: 'malformed' });
});
