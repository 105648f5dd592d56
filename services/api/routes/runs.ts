import { z } from 'zod';
import { runJson } from '../../../shared/control/run-troubles.ts';
import type { RunView } from '../../../shared/control/run-watcher.ts';
import { runStatusJson } from '../../../shared/control/status-json.ts';
import { BY_HAND, steer } from '../../../shared/control/steering/steering.ts';
import type { SteerVerb } from '../../../shared/control/steering/steering-outcome.ts';
import { summaryJson } from '../../../shared/control/summary-json.ts';
import { expectMayAsk } from '../access/access.ts';
import type { Caller } from '../access/tokens.ts';
import { Problem, problemSchema, unknownRun } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { pageOfRuns } from '../run-pages.ts';
import { listedRunSchema, runStatusSchema, steeredSchema } from '../schemas/answers.ts';
import { limitSchema, reasonBody, runIdSchema, runParams, urlText } from '../schemas/inputs.ts';
import { producedSchema, runRequestSchema } from '../schemas/runs.ts';

const tags = ['runs'];
/** Runs read at once, which bounds how long the store is kept busy. */
const AT_ONCE = 10;
/** Maximum characters of a cursor, which names a run. */
const MOST_CURSOR = 200;
/** Longest run id. */
const MOST_NAME = 63;
const MOST_OFFERED = 10_000;
const OFFERS_BYTES = 16 * 1024 * 1024;

/** Adds the routes that list, open and steer runs and offer URLs to them. */
export function addRunRoutes(app: Api, parts: ApiParts): void {
  const { snapshots, link, offers, producers, webhooks } = parts;
  const errors = { 404: problemSchema, 409: problemSchema, 503: problemSchema };
  // A run keeps its options when somebody joins it, so its own `robots` counts here.
  const expectMayJoin = async (caller: Caller | undefined, run: string): Promise<void> =>
    expectMayAsk(caller, (await link.withStores(({ runs }) => runs.progress(run)))?.options);
  app.get(
    '/api/runs',
    {
      schema: {
        tags,
        operationId: 'listRuns',
        summary: 'Runs, newest first',
        description:
          'Runs that begin between two pages shift none. A page can be empty and still be followed by another.',
        querystring: z.strictObject({
          state: z.enum(['running', 'paused', 'cancelled', 'finished']).optional(),
          contains: z.string().max(MOST_NAME).optional().describe("Part of the run's id"),
          cursor: z.string().max(MOST_CURSOR).optional().describe('`next` of the previous answer'),
          limit: limitSchema(200, 50),
        }),
        response: {
          200: z.object({ runs: z.array(listedRunSchema), next: z.string().nullable() }),
          503: problemSchema,
        },
      },
    },
    async ({ query: { state, contains, cursor, limit } }) => {
      const { page, next } = await link.withStores(({ runs }) => pageOfRuns(runs, { state, contains, cursor, limit }));
      const views: RunView[] = [];
      for (let at = 0; at < page.length; at += AT_ONCE) {
        const some = await Promise.all(page.slice(at, at + AT_ONCE).map((run) => snapshots.run(run)));
        views.push(...some.flatMap((found) => found?.view ?? []));
      }
      const runs = views.map(listedRunJson) as z.infer<typeof listedRunSchema>[];
      return { runs, next };
    },
  );
  app.post(
    '/api/runs',
    {
      bodyLimit: OFFERS_BYTES,
      config: { role: 'submit', action: 'open run' },
      schema: {
        tags,
        operationId: 'openRun',
        summary: 'Open a run (`trawl produce`)',
        body: runRequestSchema,
        response: { 202: producedSchema, ...errors, 422: problemSchema },
      },
    },
    async (request, reply) => {
      const { webhook, ...asked } = request.body;
      expectMayAsk(request.caller, asked.options);
      if (asked.run !== undefined) await expectMayJoin(request.caller, asked.run);
      const read = await producers.read(asked);
      const hook = webhook === undefined ? undefined : webhooks.check(webhook);
      const told = await producers.open(read);
      if (hook !== undefined) await webhooks.add(read.run, hook);
      request.changed = { target: read.run };
      reply.header('location', `/api/runs/${read.run}`);
      return reply.code(202).send(told as z.infer<typeof producedSchema>);
    },
  );
  app.get(
    '/api/runs/:run',
    {
      schema: {
        tags,
        operationId: 'getRun',
        summary: 'One run (`trawl status RUN --json`)',
        params: runParams,
        response: { 200: runStatusSchema, 404: problemSchema, 503: problemSchema },
      },
    },
    async ({ params: { run } }) => {
      const found = await snapshots.run(run);
      if (found === undefined) throw unknownRun(run);
      return runStatusJson(found.view, found.workers, found.hosts) as z.infer<typeof runStatusSchema>;
    },
  );
  app.post(
    '/api/runs/:run/offers',
    {
      bodyLimit: OFFERS_BYTES,
      config: { role: 'submit', action: 'offer' },
      schema: {
        tags,
        operationId: 'offerUrls',
        summary: 'Offer URLs to an open run',
        params: runParams,
        body: z
          .strictObject({
            urls: z
              .array(urlText)
              .max(MOST_OFFERED, `expected at most ${MOST_OFFERED} URLs: offer them in several requests`)
              .default([])
              .describe('Can be empty with `last`'),
            last: z
              .boolean()
              .default(false)
              .describe(
                'No more URLs will be offered: the run ends once its URLs are crawled, unless it has other producers',
              ),
          })
          .refine(({ urls, last }) => last || urls.length > 0, 'expected urls, or last'),
        response: {
          200: z.object({
            run: runIdSchema,
            discovered: z.int(),
            duplicate: z.int(),
            malformed: z.int(),
            sealed: z.boolean().optional().describe('With `last`: the run takes no more URLs'),
          }),
          ...errors,
        },
      },
    },
    async ({ params: { run }, body: { urls, last }, caller }) => {
      await expectMayJoin(caller, run);
      // Whoever adds URLs to a run that stopped with its API wants them crawled.
      await producers.takeUp(run, 'offer');
      return await offers.offer(run, urls, last);
    },
  );
  for (const verb of ['pause', 'resume', 'cancel', 'seal'] as const) addSteering(app, verb, parts);
}

function addSteering(app: Api, verb: SteerVerb, { link, producers }: ApiParts): void {
  app.post(
    `/api/runs/:run/${verb}`,
    {
      config: { action: `${verb} run` },
      schema: {
        tags,
        operationId: `${verb}Run`,
        summary: `Steer a run (\`trawl ${verb} RUN\`)`,
        params: runParams,
        body: reasonBody,
        response: {
          200: steeredSchema,
          404: problemSchema,
          409: problemSchema,
          503: problemSchema,
        },
      },
    },
    async (request) => {
      const { params, body } = request;
      const { run } = params;
      if (verb === 'resume') await producers.takeUp(run, 'resume');
      return await link.withStores(
        async (stores) => {
          // Dropping the waiting tasks takes longer the more there are.
          if (verb === 'cancel' && (await stores.runs.standing(run))?.hasEnded === false)
            await request.begins({ target: run });
          const steered = await steer(verb, run, body?.reason ?? BY_HAND, stores);
          if (steered === undefined) throw unknownRun(run);
          const { was } = steered.steered;
          const hasEnded = was === 'finished' || was === 'cancelled';
          // Cancelling a cancelled run again is no error.
          const isDone = verb === 'cancel' && was === 'cancelled';
          if (hasEnded && !isDone) throw new Problem('wrong_state', steered.sentence);
          return steered.document as z.infer<typeof steeredSchema>;
        },
        { takesLong: verb === 'cancel' },
      );
    },
  );
}

function listedRunJson({ progress, bottleneck, rate }: RunView): object {
  const { startedAt, endedAt, options } = progress;
  const { name, sentence, etaMs } = bottleneck;
  return {
    ...summaryJson(progress),
    ...runJson(progress),
    crawler: options.crawler,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
    recentPagesPerSecond: endedAt === undefined ? Number(rate.toFixed(2)) : 0,
    bottleneck: name === 'none' ? null : sentence,
    etaSeconds: etaMs === undefined ? null : Math.round(etaMs / 1_000),
  };
}
