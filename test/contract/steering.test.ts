import { inject } from 'vitest';
import { openMemoryStore, openSqliteStore, redisStores } from '../support/stores.ts';
import { describeSteering } from './steering.contract.ts';

describeSteering('in memory', openMemoryStore);
describeSteering('in SQLite', openSqliteStore());

const redis = redisStores(inject('redisUrl'));
describeSteering('in Redis', redis.open, redis.close);
