import { inject } from 'vitest';
import { openSqliteStore, redisStores } from '../support/stores/stores.ts';
import { describeSteering } from './suites/steering.contract.ts';

describeSteering('in SQLite', openSqliteStore);

const redis = redisStores(inject('redisUrl'));
describeSteering('in Redis', redis.open, redis.close);
