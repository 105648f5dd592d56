import { inject } from 'vitest';
import { openSqliteStore, redisStores } from '../support/stores/stores.ts';
import { forEveryFrontier } from './suites/frontier/every-frontier.ts';
import { describeIncremental } from './suites/frontier/incremental.contract.ts';
import { describeRetakenPages } from './suites/frontier/retaken-pages.contract.ts';

describeIncremental('in SQLite', openSqliteStore);

const redis = redisStores(inject('redisUrl'));
describeIncremental('in Redis', redis.open, redis.close);

const compact = redisStores(inject('redisUrl'), 'compact');
describeIncremental('in Redis, compact marks', compact.open, compact.close);

forEveryFrontier(describeRetakenPages);
