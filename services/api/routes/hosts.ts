import { z } from 'zod';
import { limitText } from '../../../shared/control/format.ts';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { pausedHostJson, resumedHostJson } from '../../../shared/control/hosts/host-pause-json.ts';
import { BY_HAND } from '../../../shared/control/steering/steering.ts';
import { rate } from '../../../shared/settings/parsers.ts';
import type { ListedHost } from '../host-list.ts';
import { pageOfHosts } from '../host-pages.ts';
import { Problem, problemSchema } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { listedHostSchema, steeredHostSchema } from '../schemas/answers.ts';
import { hostParams, limitSchema, reasonBody } from '../schemas/inputs.ts';

const tags = ['hosts'];
const errors = { 503: problemSchema };
/** Longest host name, with its port. */
const MOST_NAME = 260;
/** Maximum characters of a cursor, which names a host. */
const MOST_CURSOR = 1_000;
const TRUNCATED =
  'True if there are more. At most ten thousand are listed: of the runs with the most hosts, those whose turn is furthest away';

/** Adds the routes that list, pause, resume and limit hosts. */
export function addHostRoutes(app: Api, { link, hosts: list }: ApiParts): void {
  app.get(
    '/api/hosts',
    {
      schema: {
        tags,
        operationId: 'listHosts',
        summary: 'Hosts with waiting tasks, and paused hosts; most waiting tasks first',
        querystring: z.strictObject({
          state: z.enum(['waiting', 'paused', 'unreachable']).optional(),
          contains: z.string().max(MOST_NAME).optional().describe("Part of the host's name"),
          cursor: z.string().max(MOST_CURSOR).optional().describe('`next` of the previous answer'),
          limit: limitSchema(1_000, 100),
        }),
        response: {
          200: z.object({
            hosts: z.array(listedHostSchema),
            next: z.string().nullable(),
            truncated: z.boolean().describe(TRUNCATED),
          }),
          ...errors,
        },
      },
    },
    async ({ query: { state, contains = '', cursor, limit } }) => {
      const all = await list.read();
      const found = all.hosts.filter(({ host, waiting, circumstances: { pausedMs, isUnreachable } }) => {
        if (!host.includes(contains)) return false;
        if (state === 'waiting') return waiting > 0;
        if (state === 'unreachable') return isUnreachable;
        return state === undefined || pausedMs > 0;
      });
      const { page, next } = pageOfHosts(found, { cursor, limit });
      return { hosts: page.map(hostJson), next, truncated: !all.isAll };
    },
  );
  app.post(
    '/api/hosts/:host/pause',
    {
      config: { action: 'pause host' },
      schema: {
        tags,
        operationId: 'pauseHost',
        summary: 'Pause a host (`trawl pause --host HOST`)',
        params: hostParams,
        body: reasonBody,
        response: { 200: steeredHostSchema, ...errors },
      },
    },
    async ({ params, body }) => {
      const [host, reason] = [readHost(params.host), body?.reason ?? BY_HAND];
      const was = await link.withStores(({ gate }) => gate.pauseByHand(host, reason));
      return pausedHostJson(host, was, reason) as z.infer<typeof steeredHostSchema>;
    },
  );
  app.post(
    '/api/hosts/:host/resume',
    {
      config: { action: 'resume host' },
      schema: {
        tags,
        operationId: 'resumeHost',
        summary: 'Resume a host (`trawl resume --host HOST`)',
        params: hostParams,
        body: reasonBody,
        response: { 200: steeredHostSchema, ...errors },
      },
    },
    async ({ params }) => {
      const host = readHost(params.host);
      const was = await link.withStores(({ gate }) => gate.resume(host));
      return resumedHostJson(host, was) as z.infer<typeof steeredHostSchema>;
    },
  );
  const limited = z.object({ host: z.string(), was: z.string(), is: z.string() });
  app.put(
    '/api/hosts/:host/limit',
    {
      config: { action: 'limit host' },
      schema: {
        tags,
        operationId: 'limitHost',
        summary: 'Limit the rate of a host (`trawl limit HOST RATE`)',
        params: hostParams,
        body: z.strictObject({
          rate: z.string().max(50).describe('Like --rate: 2/s, 60/min, 100/h; none removes the limit'),
          reason: z.string().max(500).optional(),
        }),
        response: { 200: limited, ...errors },
      },
    },
    async (request) => {
      const read = rate()(request.body.rate.trim());
      if ('expected' in read) throw new Problem('usage', `expected rate to be ${read.expected}`);
      request.changed = { target: `${request.params.host} ${request.body.rate}` };
      return await limitHost(request.params.host, read.value, link);
    },
  );
  app.delete(
    '/api/hosts/:host/limit',
    {
      config: { action: 'end limit of host' },
      schema: {
        tags,
        operationId: 'unlimitHost',
        summary: 'Remove the limit of a host (`trawl limit HOST none`)',
        params: hostParams,
        response: { 200: limited, ...errors },
      },
    },
    async ({ params }) => await limitHost(params.host, 0, link),
  );
}

async function limitHost(text: string, intervalMs: number, link: ApiParts['link']) {
  const host = readHost(text);
  const was = await link.withStores(({ gate }) => gate.limit(host, intervalMs));
  return { host, was: limitText(was), is: limitText(intervalMs) };
}

function hostJson({ host, waiting, runs, circumstances }: ListedHost): z.infer<typeof listedHostSchema> {
  const { pausedMs, reason, byHand, isUnreachable, intervalMs, because, responseMs } = circumstances;
  return {
    host,
    waiting,
    runs,
    paused: pausedMs > 0,
    pausedSeconds: pausedMs > 0 && !byHand ? Math.ceil(pausedMs / 1_000) : null,
    reason,
    byHand,
    unreachable: isUnreachable,
    rate: intervalMs === undefined ? null : limitText(intervalMs),
    intervalMs: intervalMs ?? null,
    because: because ?? null,
    responseMs: responseMs ?? null,
  };
}
