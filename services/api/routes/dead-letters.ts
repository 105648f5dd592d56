import { z } from 'zod';
import { count } from '../../../shared/control/format.ts';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { type FoundLetter, isMeant, type LetterFilter } from '../../../shared/control/letters/letter-filter.ts';
import { letterJson } from '../../../shared/control/letters/letter-json.ts';
import { MOST_LOOKED_AT, purgedJson, purgeLetters } from '../../../shared/control/letters/letter-list.ts';
import { LETTER_TTL_MS } from '../../../shared/ports/dead-letter.ts';
import { LAST_MOMENT_MS } from '../../../shared/task/durations.ts';
import { Problem, problemSchema } from '../http/problem.ts';
import { pageOfLetters } from '../letter-pages.ts';
import type { Api, ApiParts } from '../parts.ts';
import { replay } from '../replay.ts';
import { letterSchema } from '../schemas/answers.ts';
import { letterFilter, limitSchema } from '../schemas/inputs.ts';

/** Maximum number of letters that one request can change. Far more than a queue should hold. */
const MOST_CHANGED = 1_000_000;

const COUNTED = `\`cursor\` takes \`next\` of the previous answer; letters that come or go in between shift no page. If there are more than ${count(MOST_LOOKED_AT)}, only that many are searched, oldest first: \`truncated\` is true, and the others are on no page. If reading them takes more than 20 s, the answer is 503 with \`Retry-After\`: the read goes on, and a later request gets its result. Without a filter, limit=0 counts the letters without reading any.`;

/** Maximum characters of a cursor. It names a letter by its id, which might be escaped. */
const MOST_CURSOR = 4_000;

const tags = ['dead letters'];
const errors = { 503: problemSchema };

const change = z.strictObject({
  ...letterFilter,
  limit: z.int().min(1).max(MOST_CHANGED).optional(),
  dryRun: z.boolean().default(false),
  all: z.boolean().default(false).describe('Required without a filter: all letters'),
});

/** Answer of `dlq replay --json`, of a fleet or of local crawls. */
const replayedSchema = z.looseObject({
  run: z.string().nullable().optional().describe('The new run of a fleet; null if there are several or none'),
  runs: z.array(
    z.looseObject({
      run: z.string(),
      origin: z.string().optional(),
      letters: z.int(),
      ofGroups: z.int().optional().describe('Letters of groups'),
      owners: z.int().optional().describe('Number of these groups'),
      accepted: z.int(),
      known: z.int(),
      joined: z.boolean().optional().describe('True if the run is that of an earlier replay that was killed'),
      originForgotten: z.boolean().optional(),
      options: z.record(z.string(), z.unknown()).optional(),
      inFlight: z
        .int()
        .optional()
        .describe('Letters whose tasks the run has in hand (local crawls only, like `refused` and `resume`)'),
      refused: z.string().nullable().optional(),
      resume: z
        .string()
        .nullable()
        .optional()
        .describe('The command that resumes the run, if no process is crawling it'),
    }),
  ),
  letters: z.int(),
  undelivered: z
    .int()
    .optional()
    .describe(
      'Letters of tasks that a policy of the broker removed from their queue: the tasks wait in their own runs again',
    ),
  malformed: z.int(),
  withoutOwner: z.int().optional().describe("Letters of groups that can't be replayed"),
  dryRun: z.boolean(),
});

/** Adds the routes that show, replay and delete dead letters. */
export function addDeadLetterRoutes(app: Api, parts: ApiParts): void {
  app.get(
    '/api/dlq',
    {
      schema: {
        tags,
        operationId: 'listLetters',
        summary: 'Dead letters, oldest first (`trawl dlq list`)',
        description: COUNTED,
        querystring: z.strictObject({
          ...letterFilter,
          cursor: z.string().max(MOST_CURSOR).optional().describe('`next` of the previous answer'),
          limit: limitSchema(1_000, 100, 0),
        }),
        response: {
          200: z.object({
            letters: z.array(letterSchema),
            total: z.int(),
            next: z.string().nullable(),
            truncated: z.boolean(),
          }),
          ...errors,
        },
      },
    },
    async ({ query: { cursor, limit, ...filter } }) => {
      const isOfAll = Object.values(filter).every((value) => value === undefined);
      if (isOfAll && limit === 0) {
        const total = await parts.letters.count();
        return { letters: [], total, next: null, truncated: total > MOST_LOOKED_AT };
      }
      const meant = filterOf(filter);
      const all = await parts.letters.browse();
      const found = all.filter((each) => isMeant(each, meant));
      const { page, next } = pageOfLetters(found, { cursor, limit });
      const letters = page.map(shownLetter);
      if (all.length < MOST_LOOKED_AT) return { letters, total: found.length, next, truncated: false };
      const total = isOfAll ? Math.max(found.length, await parts.letters.count()) : found.length;
      return { letters, total, next, truncated: true };
    },
  );
  app.get(
    '/api/dlq/:letter',
    {
      schema: {
        tags,
        operationId: 'getLetter',
        summary: 'One dead letter (`trawl dlq show`)',
        params: z.object({ letter: z.string().min(1).max(300) }),
        response: { 200: letterSchema, 404: problemSchema, ...errors },
      },
    },
    async ({ params }) => {
      const all = await parts.letters.browse();
      const found = all.find(({ message }) => message.id === params.letter);
      if (found === undefined)
        throw new Problem(
          'unknown_letter',
          `there is no dead letter ${params.letter}${all.length < MOST_LOOKED_AT ? '' : ` among the first ${count(MOST_LOOKED_AT)}, which are searched`}`,
        );
      return shownLetter(found);
    },
  );
  app.post(
    '/api/dlq/replay',
    {
      config: { action: 'replay letters' },
      schema: {
        tags,
        operationId: 'replayLetters',
        summary: 'Offer dead letters again (`trawl dlq replay`)',
        body: change,
        response: { 200: replayedSchema, ...errors },
      },
    },
    async (request) => {
      const { limit = Number.POSITIVE_INFINITY, dryRun } = request.body;
      const filter = expectFilter(request.body);
      const begins = (): Promise<void> => request.begins({ target: describe(request.body), isDry: dryRun });
      const told = await replay({ filter, limit, isDry: dryRun }, parts, begins);
      return told as z.infer<typeof replayedSchema>;
    },
  );
  app.post(
    '/api/dlq/purge',
    {
      config: { action: 'delete letters' },
      schema: {
        tags,
        operationId: 'purgeLetters',
        summary: 'Delete dead letters (`trawl dlq purge`)',
        body: change,
        response: { 200: z.object({ purged: z.int(), matching: z.int(), dryRun: z.boolean() }), ...errors },
      },
    },
    async (request) => {
      const { limit = Number.POSITIVE_INFINITY, dryRun } = request.body;
      const filter = expectFilter(request.body);
      const meant = await parts.link.withLetters(
        async (letters) => {
          await request.begins({ target: describe(request.body), isDry: dryRun });
          return await purgeLetters(letters, { filter, limit, isDry: dryRun });
        },
        { takesLong: true },
      );
      return purgedJson(meant, dryRun) as { purged: number; matching: number; dryRun: boolean };
    },
  );
}

type Chosen = { readonly [K in keyof typeof letterFilter]?: z.infer<(typeof letterFilter)[K]> };

function filterOf({ reason, host, run }: Chosen): LetterFilter {
  return { reason, host: host === undefined ? undefined : readHost(host), run };
}

/** @throws Problem if the request selects no letters */
function expectFilter(body: z.infer<typeof change>): LetterFilter {
  const { reason, host, run, all } = body;
  if (reason === undefined && host === undefined && run === undefined && !all)
    throw new Problem('usage', 'expected reason, host or run, or all: true');
  return filterOf(body);
}

function describe({ reason, host, run, all, limit }: z.infer<typeof change>): string {
  const said = Object.entries({ reason, host, run }).filter(([, value]) => value !== undefined);
  const meant = said.length === 0 && all ? ['all'] : said.map(([name, value]) => `${name} ${value}`);
  return [...meant, ...(limit === undefined ? [] : [`limit ${limit}`])].join(', ');
}

/** Returns a letter as `dlq show` prints it, with the time it expires. */
function shownLetter(found: FoundLetter): z.infer<typeof letterSchema> {
  const expiresAt = found.letter === undefined ? Number.NaN : Date.parse(found.letter.failedAt) + LETTER_TTL_MS;
  const expires = expiresAt <= LAST_MOMENT_MS ? { expiresAt: new Date(expiresAt).toISOString() } : {};
  return { ...letterJson(found), ...expires } as z.infer<typeof letterSchema>;
}
