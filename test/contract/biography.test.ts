import { inject } from 'vitest';
import { openSqliteStore, redisStores } from '../support/stores/stores.ts';
import { describeBiography } from './suites/biography.contract.ts';

describeBiography('in SQLite', openSqliteStore);

const redis = redisStores(inject('redisUrl'));
describeBiography('in Redis', redis.open, redis.close);
