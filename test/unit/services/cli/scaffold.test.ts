import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectCompiler } from '../../../../services/cli/scaffold/packed-program.ts';
import { projectFiles } from '../../../../services/cli/scaffold/project-files.ts';
import { rabbitmqUrlOf, redisUrlOf, settingsFrom } from '../../../../shared/settings/settings.ts';

const COMPOSE = projectFiles({ name: 'shop', tarball: 'trawl.tgz', devDependencies: {} })['docker-compose.yml'] ?? '';

test('workers of a new project find its services whatever its .env says', () => {
  const variables = [...COMPOSE.matchAll(/^ {6}([A-Z_]+): (.+)$/gm)].map(([, name, value]) => [name, value]);
  const ofEnvFile = {
    RABBITMQ_URL: 'amqp://localhost',
    RABBITMQ_HOST: 'localhost',
    RABBITMQ_USER: 'me',
    REDIS_URL: 'redis://localhost:6379',
    REDIS_PASSWORD: 'secret',
  };
  const environment = { ...ofEnvFile, ...Object.fromEntries(variables) };
  const settings = settingsFrom({ flag: {}, environment, file: {} });
  expect(rabbitmqUrlOf(settings)).toBe('amqp://guest:guest@rabbitmq');
  expect(redisUrlOf(settings)).toBe('redis://redis');
});

test('containers of a new project have a memory limit for workers and a log limit for all', () => {
  expect(COMPOSE).toMatch(/^ {4}mem_limit: 1g$/m);
  expect(COMPOSE.match(/^ {4}logging: \*log$/gm)).toHaveLength(COMPOSE.match(/^ {4}restart: /gm)?.length ?? 0);
});

test('packing without a compiler installed fails with the command that installs it', () => {
  const root = join(import.meta.dirname, '../../../..');
  expect(() => expectCompiler(root)).not.toThrow();
  expect(() => expectCompiler(join(root, 'services'))).toThrow(
    "this program can't be packed, since its compiler isn't installed: npm ci --include=dev, in a checkout",
  );
});
