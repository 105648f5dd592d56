import { inject } from 'vitest';
import { type OpenStore, openSqliteFile, openSqliteStore, redisStores } from '../../../support/stores/stores.ts';

type DescribeFrontier = (name: string, open: OpenStore, close?: () => Promise<void>) => void;

/** Runs a contract against every frontier. */
export function forEveryFrontier(describe: DescribeFrontier): void {
  describe('in SQLite', openSqliteStore);
  describe('in SQLite, in a file', openSqliteFile);
  const [exact, compact] = [redisStores(inject('redisUrl')), redisStores(inject('redisUrl'), 'compact')];
  describe('in Redis', exact.open, exact.close);
  describe('in Redis, compact marks', compact.open, compact.close);
}
