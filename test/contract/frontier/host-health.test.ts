import { inject } from 'vitest';
import { openSqliteStore, redisStores } from '../../support/stores/stores.ts';
import { describeBreaker } from '../suites/breaker.contract.ts';
import { describeHostPace } from '../suites/host-pace.contract.ts';

describeHostPace('in SQLite', openSqliteStore);
describeBreaker('in SQLite', openSqliteStore);

const [paces, breakers] = [redisStores(inject('redisUrl')), redisStores(inject('redisUrl'))];
describeHostPace('in Redis', paces.open, paces.close);
describeBreaker('in Redis', breakers.open, breakers.close);
