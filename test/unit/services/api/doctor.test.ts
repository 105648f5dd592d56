import { createServer } from 'node:net';
import Fastify from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import { problemOf, sendProblem } from '../../../../services/api/http/problem.ts';
import type { Api, ApiParts } from '../../../../services/api/parts.ts';
import { addFleetRoutes } from '../../../../services/api/routes/fleet.ts';
import { LoopbackServer } from '../../../support/listeners/loopback-server.ts';
import { openApi } from './setup.ts';

/** Returns how often a Postgres that hangs up is contacted while `asking` requests for the doctor are made at once. */
async function connectionsOf(asking: number): Promise<number> {
  let connections = 0;
  const server = new LoopbackServer(
    createServer((socket) => {
      connections++;
      socket.destroy();
    }),
  );
  await server.listen();
  onTestFinished(() => server.stop());
  const { ask } = await openApi({ SINK: `postgres://127.0.0.1:${server.port}/x` });
  const answers = await Promise.all(Array.from({ length: asking }, () => ask('/api/doctor')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  return connections;
}

test('concurrent requests for the doctor share one check', async () => {
  const ofOne = await connectionsOf(1);
  expect(ofOne).toBeGreaterThan(0);
  expect(await connectionsOf(10)).toBe(ofOne);
});

test('the doctor of a local API looks at no fleet', async () => {
  const { ask } = await openApi({ REDIS_PORT: '1', RABBITMQ_PORT: '1' });
  const { ok, findings } = (await ask('/api/doctor')).json;
  expect(findings.map(({ what }: { what: string }) => what)).not.toEqual(expect.arrayContaining(['Redis']));
  expect(findings.map(({ what }: { what: string }) => what)).not.toEqual(expect.arrayContaining(['RabbitMQ']));
  expect(ok).toBe(true);
});

test('while a store hangs the autoscaler gets the reason instead of a number', async () => {
  const app = Fastify() as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler((error, _, reply) => sendProblem(problemOf(error), reply));
  onTestFinished(() => app.close());
  const metrics = { workersWanted: async () => undefined };
  addFleetRoutes(app, { metrics, link: { away: [] } } as unknown as ApiParts);
  expect((await app.inject('/api/autoscale')).json().detail).toBe('the store did not answer in time');
});
