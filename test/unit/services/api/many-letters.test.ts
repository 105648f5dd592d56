import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import type { Api, ApiParts } from '../../../../services/api/parts.ts';
import { addDeadLetterRoutes } from '../../../../services/api/routes/dead-letters.ts';
import { readLetter } from '../../../../shared/control/letter-filter.ts';
import { MOST_LOOKED_AT } from '../../../../shared/control/letter-list.ts';
import { letterOf } from '../../../support/stores/letters.ts';

test('of more letters than are looked through the answer says how many there are, and that they are not all', async () => {
  const { id, body, headers } = letterOf('http://a.test/', { at: 0 });
  const found = readLetter({ id, body: Buffer.from(String(body)), headers });
  const app = Fastify() as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const letters = { browse: async () => Array(MOST_LOOKED_AT).fill(found), count: async () => MOST_LOOKED_AT + 5 };
  addDeadLetterRoutes(app, { letters } as unknown as ApiParts);
  onTestFinished(() => app.close());
  const ask = async (query: string) => (await app.inject(`/api/dlq${query}`)).json();
  expect(await ask('?limit=2')).toMatchObject({ letters: [{}, {}], total: MOST_LOOKED_AT + 5, truncated: true });
  expect(await ask('?host=b.test')).toEqual({ letters: [], total: 0, truncated: true });
  expect((await ask('/nix')).message).toContain('that are looked through');
});
