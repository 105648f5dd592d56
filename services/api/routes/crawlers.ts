import { z } from 'zod';
import { GRAPH_FORMATS, graphJson, graphLines } from '../../../shared/crawler/crawler-graph.ts';
import { crawlerJson } from '../../../shared/crawler/crawler-json.ts';
import { type Found, findAll, findCrawler, UnknownCrawlerError } from '../../../shared/crawler/loading/catalogue.ts';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { problemSchema, unknownCrawler } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { CRAWLER_NAME } from '../producers.ts';
import { SharedRead } from '../shared-read.ts';

const tags = ['crawlers'];

const graphSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    steps: z.array(z.string()),
    edges: z.array(
      z.object({
        from: z.string().optional().describe('Left out for the seeds'),
        to: z.string(),
        label: z.string().optional(),
        isFallback: z.literal(true).optional(),
      }),
    ),
    joins: z.array(z.object({ name: z.string(), per: z.string().optional(), of: z.array(z.string()) })).optional(),
  })
  .describe('Text if the format is mermaid or dot');

/** Adds the routes of the crawlers that this process finds, and of their graphs. */
export function addCrawlerRoutes(app: Api, { settings, clock }: ApiParts): void {
  const catalogue = new SharedRead<Found>(clock, () => SECOND_MS);
  app.get(
    '/api/crawlers',
    {
      schema: {
        tags,
        operationId: 'listCrawlers',
        summary: 'The installed crawlers (`trawl crawlers`)',
        response: {
          200: z.object({
            crawlers: z.array(
              z.looseObject({
                name: z.string(),
                version: z.string(),
                steps: z.array(z.string()),
                args: z.array(z.string()),
                strictVersion: z.boolean(),
              }),
            ),
            problems: z.array(z.string()),
          }),
        },
      },
    },
    async () => {
      const { crawlers, problems } = await catalogue.get(() => findAll(settings.crawlersDir, settings.crawler));
      const shown = crawlers.map((each) => {
        // The path of a crawler's file is not for HTTP clients.
        const { file: _, ...crawler } = crawlerJson(each);
        return crawler;
      });
      return { crawlers: shown, problems: [...problems] };
    },
  );
  app.get(
    '/api/crawlers/:crawler/graph',
    {
      config: { types: ['application/json', 'text/plain'] },
      schema: {
        tags,
        operationId: 'getCrawlerGraph',
        summary: 'The steps of a crawler and the links between them (`trawl crawlers graph`)',
        params: z.object({ crawler: z.string().regex(CRAWLER_NAME) }),
        querystring: z.strictObject({ format: z.enum(['json', ...GRAPH_FORMATS]).default('json') }),
        response: {
          200: graphSchema,
          404: problemSchema,
        },
      },
    },
    async ({ params, query: { format } }, reply) => {
      const { crawler, version } = await findCrawler(params.crawler, settings.crawlersDir).catch((error: unknown) => {
        if (!(error instanceof UnknownCrawlerError)) throw error;
        throw unknownCrawler(params.crawler, error.nearest);
      });
      if (format === 'json')
        return { name: crawler.name, version, ...graphJson(crawler) } as z.infer<typeof graphSchema>;
      reply.type('text/plain; charset=utf-8').serializer(String);
      return graphLines(crawler, format).join('\n') as never;
    },
  );
}
