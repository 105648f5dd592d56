import { expect, test } from 'vitest';
import { type Holder, Shares } from '../../../../../services/api/access/shares.ts';

const ANYONE: Holder = { token: undefined, session: undefined };

test('a token takes only its share, and others find places', () => {
  const shares = new Shares({ inAll: 5, ofToken: 3, ofSession: 2 });
  const first = shares.take({ token: 'a', session: undefined });
  for (let nth = 0; nth < 2; nth++) shares.take({ token: 'a', session: undefined });
  expect(() => shares.take({ token: 'a', session: undefined })).toThrow('there are 3 listeners of token a already');
  shares.take({ token: 'b', session: undefined });
  first();
  // A place is given back once.
  first();
  shares.take({ token: 'a', session: undefined });
  expect(() => shares.take({ token: 'a', session: undefined })).toThrow('of token a');
});

test("a session takes only its share, which is a part of its token's", () => {
  const shares = new Shares({ inAll: 5, ofToken: 3, ofSession: 2 });
  for (let nth = 0; nth < 2; nth++) shares.take({ token: 'a', session: 's1' });
  expect(() => shares.take({ token: 'a', session: 's1' })).toThrow('there are 2 listeners of this session already');
  shares.take({ token: 'a', session: 's2' });
  expect(() => shares.take({ token: 'a', session: 's2' })).toThrow('there are 3 listeners of token a already');
});

test('an API without tokens has only the limit for all', () => {
  const shares = new Shares({ inAll: 5, ofToken: 3, ofSession: 2 });
  for (let nth = 0; nth < 5; nth++) shares.take(ANYONE);
  expect(() => shares.take(ANYONE)).toThrow('there are 5 listeners already');
});
