import { inject } from 'vitest';
import { openSqliteStore, redisStores } from '../../support/stores/stores.ts';
import { describeBreaker } from '../suites/hosts/breaker.contract.ts';
import { describeHostPace } from '../suites/hosts/host-pace.contract.ts';
import { describeSilentHosts } from '../suites/hosts/silent-hosts.contract.ts';

describeHostPace('in SQLite', openSqliteStore);
describeBreaker('in SQLite', openSqliteStore);
describeSilentHosts('in SQLite', openSqliteStore);

const [paces, breakers, silent] = [
  redisStores(inject('redisUrl')),
  redisStores(inject('redisUrl')),
  redisStores(inject('redisUrl')),
];
describeHostPace('in Redis', paces.open, paces.close);
describeBreaker('in Redis', breakers.open, breakers.close);
describeSilentHosts('in Redis', silent.open, silent.close);
