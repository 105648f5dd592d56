import { inject } from 'vitest';
import { openMemoryStore, redisStores } from '../support/stores.ts';
import { describeBreaker } from './breaker.contract.ts';
import { describeHostPace } from './host-pace.contract.ts';

describeHostPace('in memory', openMemoryStore);
describeBreaker('in memory', openMemoryStore);

const [paces, breakers] = [redisStores(inject('redisUrl')), redisStores(inject('redisUrl'))];
describeHostPace('in Redis', paces.open, paces.close);
describeBreaker('in Redis', breakers.open, breakers.close);
