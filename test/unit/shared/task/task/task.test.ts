import { expect, test } from 'vitest';
import { joinMark } from '../../../../../shared/task/group/group.ts';
import { MAX_FIELD_BYTES } from '../../../../../shared/task/task/fields.ts';
import {
  MAX_BODY_BYTES,
  type ReadMessage,
  readMessage,
  writeMessage,
} from '../../../../../shared/task/task/message.ts';
import { idOf, RUN_ID, type Task } from '../../../../../shared/task/task/task.ts';
import { fingerprintOf, malformedMarkOf, malformedTextOf, markOf } from '../../../../../shared/task/url/fingerprint.ts';

function read(body: string): ReadMessage {
  return readMessage(new TextEncoder().encode(body));
}

const TASK: Task = {
  run: 'run-1',
  url: 'http://example.com/%7ea?"quoted"',
  host: 'example.com',
  mark: 'http://example.com/~a?%22quoted%22',
  step: '',
  depth: 2,
  queue: 'priority',
};

test('a message holds its task, and reads back as it was written', () => {
  const task = { ...TASK, url: 'http://example.com/%7ea?%22quoted%22' };
  expect(JSON.parse(writeMessage(task))).toEqual({ v: 1, run: 'run-1', url: task.url, depth: 2, queue: 'priority' });
  expect(read(writeMessage(task))).toEqual({ kind: 'task', task });
});

test('a step travels with its task, and is part of its mark', () => {
  const task = { ...TASK, url: 'http://example.com/', mark: 'detail http://example.com/', step: 'detail' };
  expect(read(writeMessage(task))).toEqual({ kind: 'task', task });
  expect(idOf(task)).not.toBe(idOf({ ...task, mark: 'http://example.com/' }));
});

test('the key of a URL travels with its task if the rules of the run make it differ from the URL', () => {
  const task = {
    ...TASK,
    url: 'http://www.example.com/a/?b',
    mark: 'detail http://example.com/a?b',
    step: 'detail',
    host: 'www.example.com',
  };
  expect(JSON.parse(writeMessage(task))).toMatchObject({ url: task.url, key: 'http://example.com/a?b' });
  expect(read(writeMessage(task))).toEqual({ kind: 'task', task });
});

test('the folder in which its links are followed travels with a task', () => {
  const task = { ...TASK, url: 'http://example.com/%7ea?%22quoted%22', within: 'example.com/' };
  expect(read(writeMessage(task))).toEqual({ kind: 'task', task });
});

test('a message from another program needs only a URL', () => {
  const message = read('{"url":"https://example.com"}');
  expect(message).toEqual({
    kind: 'task',
    task: {
      run: undefined,
      url: 'https://example.com/',
      host: 'example.com',
      mark: 'https://example.com/',
      step: '',
      depth: 0,
      queue: 'normal',
    },
  });
});

test.each([
  ['not json', 'the body is not JSON'],
  ['', 'the body is not JSON'],
  ['"http://example.com"', 'Invalid input: expected object'],
  ['{"v":1}', 'Invalid input: expected string, received undefined   → at url'],
  ['{"v":1,"url":"http://example.com","run":"No Good"}', 'at run'],
  ['{"v":1,"url":"http://example.com","depth":-1}', 'at depth'],
  ['{"v":0,"url":"http://example.com"}', 'at v'],
  ['{"v":1,"url":"example.com"}', "the URL can't be crawled: it has no scheme"],
])('%s is malformed: %s', (body, problem) => {
  const message = read(body);
  expect(message).toMatchObject({ kind: 'malformed', problem: expect.stringContaining(problem) });
});

// biome-ignore format: a table
test.each<[string, string, string | undefined]>([
  ['a folder of 64 KiB',                      JSON.stringify({ url: 'http://a.test/', within: 'x'.repeat(MAX_FIELD_BYTES) }),          undefined],
  ['a folder of one byte more',               JSON.stringify({ url: 'http://a.test/', within: `${'é'.repeat(MAX_FIELD_BYTES / 2)}x` }), `Too big: expected at most ${MAX_FIELD_BYTES} bytes   → at within`],
  ['a longer step',                           JSON.stringify({ url: 'http://a.test/', step: 'x'.repeat(MAX_FIELD_BYTES + 1) }),        'at step'],
  ['a longer key',                            JSON.stringify({ url: 'http://a.test/', key: 'x'.repeat(MAX_FIELD_BYTES + 1) }),         'at key'],
  ['a longer redirect',                       JSON.stringify({ url: 'http://a.test/', redirects: ['x'.repeat(MAX_FIELD_BYTES + 1)] }), 'at redirects[0]'],
  ['a body of 256 KiB',                       '{"url":"http://a.test/"}'.padEnd(MAX_BODY_BYTES),                                       undefined],
  ['a body of one byte more, of any version', '{"v":3}'.padEnd(MAX_BODY_BYTES + 1),                                                    'the body has 262145 bytes, more than 262144'],
])('a message and its fields have a maximum size: %s', (_, body, problem) => {
  const message = read(body);
  if (problem === undefined) expect(message.kind).toBe('task');
  else expect(message).toMatchObject({ kind: 'malformed', problem: expect.stringContaining(problem) });
});

test('a message of a newer version is never malformed', () => {
  expect(read('{"v":3,"address":"http://example.com"}')).toEqual({ kind: 'newer', version: 3 });
});

test('the fingerprint is the first half of SHA-256, as hex', () => {
  // echo -n http://example.com/ | sha256sum
  expect(fingerprintOf('http://example.com/')).toBe('2a1b402420ef46577471cdc7409b0fa2');
  expect(markOf('http://example.com/')).toBe('http://example.com/');
  expect(markOf('http://example.com/', 'detail')).toBe('detail http://example.com/');
});

test('a text that is no URL is its own mark, on one line and without its password', () => {
  expect(malformedTextOf(' ht!tp:/x\n\ty ')).toBe('ht!tp:/x y');
  expect(malformedMarkOf(' ht!tp:/x\n\ty ')).toBe('  ht!tp:/x y');
  expect(malformedMarkOf('ftp://user:pw@host/')).toBe('ftp://host/');
  expect(malformedMarkOf('x'.repeat(9_999)).length).toBe(2_048);
});

test('a malformed text never gets the mark of a step or a join', () => {
  const marks = [markOf('https://a.test/1', 'product'), joinMark('report'), markOf('https://a.test/1', '', 'd')];
  for (const mark of marks) expect(malformedMarkOf(mark)).toBe(`  ${mark.trim()}`);
});

test.each([
  ['a', true],
  ['2026-11-21', true],
  ['a'.repeat(63), true],
  ['', false],
  ['-a', false],
  ['A', false],
  ['a_b', false],
  ['a'.repeat(64), false],
])('%s is a valid run id: %s', (id, isGood) => {
  expect(RUN_ID.test(id)).toBe(isGood);
});
