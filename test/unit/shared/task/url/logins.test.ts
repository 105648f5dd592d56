import { expect, test } from 'vitest';
import { readReleased, writeOffer } from '../../../../../shared/stores/redis/forms/entry.ts';
import { formOf } from '../../../../../shared/task/task/form.ts';
import { readMessage, writeMessage } from '../../../../../shared/task/task/message.ts';
import type { Task } from '../../../../../shared/task/task/task.ts';
import { authorizationOf, keyWithLogin, loginFor, withLogin } from '../../../../../shared/task/url/logins.ts';
import { redirectOf } from '../../../../../shared/task/url/redirect.ts';

test.each([
  ['user:pass', 'user:pass'],
  ['user', 'user:'],
  [':pass', ':pass'],
  ['us%65r:p%3Aa%20%C3%A9:s', 'user:p:a é:s'],
  ['u:%zz%', 'u:%zz%'],
])('the login %s is sent as %s', (login, sent) => {
  expect(authorizationOf(login)).toBe(`Basic ${Buffer.from(sent).toString('base64')}`);
});

test('a login is for its origin: scheme, host name and port', () => {
  const logins = withLogin(undefined, 'http://a.test/x', 'u:p');
  expect(loginFor('http://a.test/y?z', logins)).toBe('u:p');
  for (const url of ['https://a.test/x', 'http://a.test:8080/x', 'http://b.a.test/', 'http://b.test/http://a.test/']) {
    expect(loginFor(url, logins), url).toBeUndefined();
  }
  const both = withLogin(withLogin(logins, 'https://b.test/', 'v:q'), 'http://a.test/z', 'w:r');
  expect(both).toEqual({ 'http://a.test': 'w:r', 'https://b.test': 'v:q' });
  expect(loginFor('http://a.test/', JSON.parse('{"__proto__":"x"}'))).toBeUndefined();
});

test('a URL has a different key for each login and for none, and the key reveals nothing of the login', () => {
  const key = 'http://a.test/x';
  const keys = [undefined, 'u:p', 'u:q', 'v:p', 'u'].map((login) => keyWithLogin(key, login));
  expect(new Set(keys).size).toBe(5);
  expect(keys[0]).toBe(key);
  for (const other of keys.slice(1)) expect(other).toMatch(/^http:\/\/a\.test\/x#[0-9a-f]{6}$/);
  expect(keyWithLogin(key, 'u:p')).toBe(keys[1]);
  // Pages with one login don't show that they share it.
  expect(keyWithLogin(`${key}y`, 'u:p')?.split('#')[1]).not.toBe(keys[1]?.split('#')[1]);
});

// biome-ignore format: a table
test.each([
  ['/b',                          { to: 'http://a.test/b' }],
  ['http://canary:c4n@b.test/c#d', { to: 'http://b.test/c', login: 'canary:c4n' }],
  ['//canary@b.test/',            { to: 'http://b.test/', login: 'canary' }],
])('a redirect to %s leads to %j', (location, redirect) => {
  expect(redirectOf(302, location, 'http://a.test/a')).toEqual(redirect);
});

test.each(['//canary:c4n@b.test:port/', 'http://canary:c4n@[', 'ftp://canary:c4n@b.test/', 'https:canary:c4n@b:x/'])(
  'a redirect to %s leads nowhere, and says so without its credentials',
  (location) => {
    expect(JSON.stringify(redirectOf(302, location, 'http://a.test/a'))).not.toMatch(/canary|c4n/);
  },
);

const TASK: Task = {
  ...{ run: 'r', url: 'http://a.test/x', host: 'a.test', mark: keyWithLogin('http://a.test/x', 'u:p'), step: '' },
  ...{ depth: 0, queue: 'normal', logins: { 'http://a.test': 'u:p' } },
};

test('a message holds the logins of its task in a field of their own', () => {
  expect(JSON.parse(writeMessage(TASK))).toEqual({
    ...{ v: 1, run: 'r', url: 'http://a.test/x', depth: 0, queue: 'normal', logins: { 'http://a.test': 'u:p' } },
  });
  expect(readMessage(Buffer.from(writeMessage(TASK)))).toEqual({ kind: 'task', task: TASK });
  const moved = {
    ...TASK,
    host: 'b.test',
    redirects: ['http://b.test/'],
    logins: { ...TASK.logins, 'http://b.test': 'v' },
  };
  expect(readMessage(Buffer.from(writeMessage(moved)))).toEqual({ kind: 'task', task: moved });
});

test('logins that another client left in a URL are moved out of it', () => {
  const body = { run: 'r', url: 'http://u:p@a.test/x', redirects: ['http://v:q@b.test/y', 'http://b.test/z'] };
  expect(readMessage(Buffer.from(JSON.stringify(body)))).toEqual({
    kind: 'task',
    task: {
      ...{ ...TASK, host: 'b.test', redirects: ['http://b.test/y', 'http://b.test/z'] },
      logins: { 'http://a.test': 'u:p', 'http://b.test': 'v:q' },
    },
  });
});

test('Redis holds logins in the stored task and nowhere else', () => {
  const { run, ...offer } = TASK;
  const parts = writeOffer(offer).split('\t');
  const form = parts.pop() ?? '';
  expect(parts.join()).not.toContain('u:p');
  expect(JSON.parse(form)).toEqual({ url: TASK.url, logins: TASK.logins });
  const head = `go 1 ${run} a.test normal 0 0 0 0 0\t${TASK.mark}`;
  expect(readReleased(`${head}\t${form}`).task).toEqual(TASK);
  const moved = { ...TASK, redirects: ['http://b.test/'], logins: { 'http://b.test': 'v' } };
  expect(readReleased(`${head}\t${formOf(moved)}`).task).toEqual(moved);
});
