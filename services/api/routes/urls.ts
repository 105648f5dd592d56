import { z } from 'zod';
import { openRecords } from '../../../shared/backends/sinks.ts';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { type ForgetWhat, forgetMarks } from '../../../shared/control/steering/forgetting.ts';
import { lookUp } from '../../../shared/control/urls/biography.ts';
import { MOST_RUNS_OF_URL } from '../../../shared/control/urls/url-marks.ts';
import { silentLog } from '../../../shared/runtime/logger.ts';
import { withoutCredentials } from '../../../shared/task/url/url.ts';
import { Problem, problemSchema, unknownRun } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { attemptSchema, letterSchema } from '../schemas/answers.ts';
import { hostSchema, reasonSchema, runIdSchema, urlText } from '../schemas/inputs.ts';

const tags = ['URLs'];
const errors = { 503: problemSchema };

const biographySchema = z.looseObject({
  url: z.string(),
  mark: z.string(),
  known: z.boolean(),
  runs: z.array(
    z.looseObject({
      run: z.string(),
      step: z.string().optional().describe("The step of the run's crawler; absent for the first"),
      forbidden: z
        .string()
        .optional()
        .describe('Why the robots.txt known now forbids the URL, if its record is kept elsewhere'),
      unknown: z
        .looseObject({
          by: z
            .enum(['exclude', 'include'])
            .nullable()
            .describe('The option that leaves out every link to the URL; null if none surely does'),
          patterns: z.array(z.string()).optional().describe('The pattern that excludes it, or all `include` patterns'),
        })
        .optional()
        .describe("Only for the run asked for, if it doesn't know the URL: why, and what it has left out so far"),
    }),
  ),
  truncated: z
    .boolean()
    .describe(
      `True if there are more runs, or steps of runs, than the ${MOST_RUNS_OF_URL} newest, which are searched; \`run\` searches any one`,
    ),
  attempts: z.array(attemptSchema),
  letters: z.array(letterSchema).nullable(),
  lettersProblem: z.string().nullable(),
});

const forgottenSchema = z.object({
  forgotten: z.int(),
  kept: z.int().describe('Marks of URLs that wait or are in flight'),
  letters: z.int().optional().describe('Dead letters deleted with them'),
  dryRun: z.literal(true).optional(),
});

/** Adds the routes that look up a URL's history and forget URLs. */
export function addUrlRoutes(app: Api, { link, settings, letters }: ApiParts): void {
  app.get(
    '/api/urls',
    {
      schema: {
        tags,
        operationId: 'getUrl',
        summary: 'What became of a URL (`trawl url`)',
        querystring: z.strictObject({ url: urlText, run: runIdSchema.optional() }),
        response: {
          200: biographySchema,
          404: problemSchema,
          ...errors,
        },
      },
    },
    async ({ query: { url, run } }) => {
      const biography = await link.withStores(
        (stores) =>
          lookUp(url, run, {
            stores,
            records: async (action) => {
              const source = await openRecords({ settings, log: silentLog, name: 'trawl api', attempts: 1 });
              try {
                return await action(source);
              } finally {
                await source.close();
              }
            },
            // A browse reads the whole queue, so concurrent requests share one.
            letters: async (isMeant) => (await letters.browse()).filter(isMeant),
          }),
        // The look-up itself reports letters that don't come in time, and searches a host with millions of URLs piece by piece.
        { takesLong: true },
      );
      if (run !== undefined && biography.runs.length === 0) throw unknownRun(run);
      return biography as unknown as z.infer<typeof biographySchema>;
    },
  );
  app.post(
    '/api/forget',
    {
      config: { action: 'forget' },
      schema: {
        tags,
        operationId: 'forgetUrls',
        summary: 'Drop dedup marks, so that URLs are crawled again (`trawl forget`)',
        body: z.strictObject({
          url: urlText.optional(),
          host: hostSchema.optional(),
          all: z.literal(true).optional(),
          reason: reasonSchema.optional(),
          dryRun: z.literal(true).optional().describe('Counts without changing anything'),
        }),
        response: { 200: forgottenSchema, ...errors },
      },
    },
    async (request) => {
      const { url, host, all, dryRun: isDry = false } = request.body;
      if ([url, host, all].filter((given) => given !== undefined).length !== 1)
        throw new Problem('usage', 'expected one of url, host and all');
      const what: ForgetWhat = url !== undefined ? { url } : host !== undefined ? { host: readHost(host) } : 'all';
      const total = await link.withStores(
        async (stores) => {
          await request.begins({ target: targetOf(what), isDry });
          return (await forgetMarks(what, stores, { isDry })).total;
        },
        { takesLong: true },
      );
      return { ...total };
    },
  );
}

function targetOf(what: ForgetWhat): string {
  if (what === 'all') return what;
  return 'url' in what ? withoutCredentials(what.url) : what.host;
}
