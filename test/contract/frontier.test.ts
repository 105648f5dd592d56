import { inject } from 'vitest';
import { openJournaledStore } from '../support/journaled-store.ts';
import { openMemoryStore, redisStores } from '../support/stores.ts';
import { describeFrontier } from './frontier.contract.ts';

describeFrontier('in memory', openMemoryStore);
describeFrontier('in memory, with a journal', (policy) => openJournaledStore({ policy }));

const redis = redisStores(inject('redisUrl'));
describeFrontier('in Redis', redis.open, redis.close);

const compact = redisStores(inject('redisUrl'), 'compact');
describeFrontier('in Redis, compact marks', compact.open, compact.close);
