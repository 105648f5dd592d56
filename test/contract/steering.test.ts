import { inject } from 'vitest';
import { openMemoryStore, redisStores } from '../support/stores.ts';
import { describeSteering } from './steering.contract.ts';

describeSteering('in memory', openMemoryStore);

const redis = redisStores(inject('redisUrl'));
describeSteering('in Redis', redis.open, redis.close);
