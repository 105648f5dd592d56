import { z } from 'zod';
import { fleetStatusJson } from '../../../shared/control/status-json.ts';
import { steerFleet } from '../../../shared/control/steering/fleet-steering.ts';
import { BY_HAND } from '../../../shared/control/steering/steering.ts';
import type { LiveWorker } from '../../../shared/ports/roster.ts';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { type Finding, findTroubles } from '../../process/findings.ts';
import { MOMENT_EVERY_MS } from '../feed.ts';
import { Problem, problemSchema } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { fleetSchema, momentSchema, steeredSchema, workerTasksSchema } from '../schemas/answers.ts';
import { limitSchema, reasonBody, wholeNumber } from '../schemas/inputs.ts';
import { SharedRead } from '../shared-read.ts';

const tags = ['fleet'];
const steeredFleetSchema = z.object({ was: z.string(), is: z.string(), runs: z.array(steeredSchema) });

/** Adds the routes of the fleet as a whole: its state and history, workers, autoscaling, diagnosis and the audit. */
export function addFleetRoutes(app: Api, { snapshots, feed, audit, settings, link, metrics, clock }: ApiParts): void {
  const troubles = new SharedRead<readonly Finding[]>(clock, () => SECOND_MS);
  app.get(
    '/api/fleet',
    {
      schema: {
        tags,
        operationId: 'getFleet',
        summary: 'The fleet (`trawl status --json`)',
        response: { 200: fleetSchema, 503: problemSchema },
      },
    },
    async () => {
      const { list, hosts } = await snapshots.fleet();
      return fleetStatusJson(list, hosts) as z.infer<typeof fleetSchema>;
    },
  );
  app.get(
    '/api/fleet/history',
    {
      schema: {
        tags,
        operationId: 'getFleetHistory',
        summary: "The fleet's figures of the last hour",
        response: { 200: z.object({ everySeconds: z.number(), moments: z.array(momentSchema) }) },
      },
    },
    async () => ({ everySeconds: MOMENT_EVERY_MS / 1_000, moments: [...feed.moments] }),
  );
  for (const verb of ['pause', 'resume'] as const) {
    app.post(
      `/api/fleet/${verb}`,
      {
        config: { action: `${verb} fleet` },
        schema: {
          tags,
          operationId: `${verb}Fleet`,
          summary: verb === 'pause' ? 'Pause all runs (`trawl pause --all`)' : 'Resume all runs (`trawl resume --all`)',
          body: reasonBody,
          response: {
            200: steeredFleetSchema,
            503: problemSchema,
          },
        },
      },
      async (request) => {
        const reason = request.body?.reason ?? BY_HAND;
        const steered = await link.withStores((stores) => steerFleet(verb, reason, stores));
        return steered as z.infer<typeof steeredFleetSchema>;
      },
    );
  }
  app.get(
    '/api/workers',
    {
      schema: {
        tags,
        operationId: 'listWorkers',
        summary: 'Live workers, with the tasks that each has in hand (`trawl workers --json`)',
        response: { 200: z.object({ workers: z.array(workerTasksSchema) }), 503: problemSchema },
      },
    },
    async () => ({ workers: (await workersOf(link)) as z.infer<typeof workerTasksSchema>[] }),
  );
  app.get(
    '/api/workers/:worker',
    {
      schema: {
        tags,
        operationId: 'getWorker',
        summary: 'One worker',
        params: z.object({ worker: z.string().min(1).max(300) }),
        response: { 200: workerTasksSchema, 404: problemSchema, 503: problemSchema },
      },
    },
    async ({ params }) => {
      const found = (await workersOf(link)).find(({ id }) => id === params.worker);
      if (found === undefined) throw new Problem('unknown_worker', `no worker ${params.worker} is alive`);
      return found as z.infer<typeof workerTasksSchema>;
    },
  );
  app.get(
    '/api/autoscale',
    {
      schema: {
        tags,
        operationId: 'getWorkersWanted',
        summary: 'Number of workers that the fleet could keep busy',
        response: { 200: z.object({ workersWanted: z.int() }), 503: problemSchema },
      },
    },
    async () => {
      const wanted = await metrics.workersWanted();
      if (wanted === undefined) {
        // A store that hangs does not count as away at once.
        const why = link.away.length > 0 ? link.away.join('; ') : 'the store did not answer in time';
        throw new Problem('unavailable', why, { retryAfterMs: 5_000 });
      }
      return { workersWanted: wanted };
    },
  );
  app.get(
    '/api/doctor',
    {
      schema: {
        tags,
        operationId: 'getDoctor',
        summary: 'What is wrong, and how to fix it (`trawl doctor --json`)',
        response: {
          200: z.object({
            ok: z.boolean(),
            findings: z.array(
              z.object({ what: z.string(), state: z.enum(['ok', 'warning', 'problem']), said: z.string() }),
            ),
          }),
        },
      },
    },
    async () => {
      const findings = await troubles.get(() => findTroubles({ settings, isLocal: link.isLocal }));
      return { ok: findings.every(({ state }) => state !== 'problem'), findings: [...findings] };
    },
  );
  const entry = z.object({
    at: z.string(),
    by: z.string(),
    role: z.string(),
    action: z.string(),
    target: z.string(),
    reason: z.string().nullable(),
  });
  app.get(
    '/api/audit',
    {
      schema: {
        tags,
        operationId: 'listAudit',
        summary: 'Changes made over this API, newest first',
        querystring: z.strictObject({
          cursor: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0).describe('`next` of the previous answer'),
          limit: limitSchema(1_000, 100),
        }),
        response: { 200: z.object({ entries: z.array(entry), next: z.int().nullable() }) },
      },
    },
    async ({ query: { cursor, limit } }) => await audit.newest(limit, cursor),
  );
}

async function workersOf(link: ApiParts['link']): Promise<readonly LiveWorker[]> {
  return await link.withStores((stores) => stores.roster.workers());
}
