import { expect, test } from 'vitest';
import { masked, secretsFrom } from '../../../../../shared/crawler/around/secrets.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';

const step = () => ({});

test('a crawler gets the secrets it names; if some are missing, it is refused with their names', () => {
  const shop = defineCrawler({ name: 'shop', step, secrets: ['USER_NAME', 'PASSWORD'] });
  const news = defineCrawler({ name: 'news', step, secrets: ['KEY'] });
  const environment = { USER_NAME: 'me', PASSWORD: 'p', KEY: 'k', PATH: '/bin' };
  const all = secretsFrom(environment, [shop, news]);
  expect([all.of(shop), all.lacking]).toEqual([{ USER_NAME: 'me', PASSWORD: 'p' }, {}]);
  const some = secretsFrom({ PASSWORD: '', KEY: 'k' }, [shop, news]);
  expect([some.of(news), some.lacking]).toEqual([{ KEY: 'k' }, { shop: ['USER_NAME', 'PASSWORD'] }]);
  expect(() => some.of(shop)).toThrow('expected USER_NAME, PASSWORD in the environment: secrets of crawler shop');
});

test('messages mask secrets, both as they are and URL-encoded', () => {
  const secrets = { A: 'pass word/1', B: 'ab' };
  expect(masked('pass word/1, pass+word%2F1, pass%20word%2F1, ab', secrets)).toBe('…, …, …, ab');
});

// biome-ignore format: a table
test.each<[object, string]>([
  [{ secrets: ['A B'] },                        "expected secrets to be a list of environment variables, as ['SHOP_USER']"],
  [{ session: 1 },                              'expected session to be { login, isExpired, ttl }'],
  [{ session: {} },                             'session: expected login to be a function'],
  [{ session: { login() {}, ttl: 'long' } },    'session: expected ttl to be a duration like 500ms, 30s, 10min, 6h or 7d'],
  [{ session: { login() {}, expired() {} } },   'session: there is no expired; there are login, isExpired, ttl'],
  [{ session: { login() {}, isExpired: 401 } }, 'session: expected isExpired to be a function'],
])('%j is refused', (around, problem) => {
  expect(() => defineCrawler({ name: 'x', step, ...around })).toThrow(`crawler x: ${problem}`);
});
