import { inject } from 'vitest';
import { openJournaledStore } from '../support/journaled-store.ts';
import { openMemoryStore, openSqliteStore, redisStores } from '../support/stores.ts';
import { describeIncremental } from './incremental.contract.ts';

describeIncremental('in memory', openMemoryStore);
describeIncremental('in SQLite', openSqliteStore());
describeIncremental('in memory, with a journal and a page file', (policy) =>
  openJournaledStore({ policy, hasPageFile: true }),
);

const redis = redisStores(inject('redisUrl'));
describeIncremental('in Redis', redis.open, redis.close);

const compact = redisStores(inject('redisUrl'), 'compact');
describeIncremental('in Redis, compact marks', compact.open, compact.close);
