import { expect, test } from 'vitest';
import { nearestOf } from '../../../../shared/settings/nearest-name.ts';
import { SETTINGS } from '../../../../shared/settings/table.ts';

const NAMES = Object.values(SETTINGS).map(({ name }) => name);

// biome-ignore format: a table
test.each([
  ['MAX_DEPHT',      'MAX_DEPTH'],
  ['MAXDEPTH',       'MAX_DEPTH'],
  ['RATE',           'RATE_LIMIT'],
  ['RATELIMIT',      'RATE_LIMIT'],
  ['rabbitmq_pass',  'RABBITMQ_PASSWORD'],
  ['REDIS_HOSTNAME', 'REDIS_HOST'],
  ['LOGLEVEL',       'LOG_LEVEL'],
  ['DATABASE_URL',   undefined],
  ['AWS_ACCESS_KEY', undefined],
  ['',               undefined],
])('%s is nearest to %s', (given, nearest) => {
  expect(nearestOf(given, NAMES)).toBe(nearest);
});
