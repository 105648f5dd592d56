import { inject } from 'vitest';
import { openMemoryStore, redisStores } from '../support/stores.ts';
import { describeBiography } from './biography.contract.ts';

describeBiography('in memory', openMemoryStore);

const redis = redisStores(inject('redisUrl'));
describeBiography('in Redis', redis.open, redis.close);
