import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '../../../shared/task/durations.ts';
import { Shares } from '../access/shares.ts';
import { ANSWER_HEADERS } from '../http/answer-headers.ts';
import { Problem } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { runIdSchema } from '../schemas/inputs.ts';

/** Maximum numbers of listeners, each an open connection. A browser has at most one per window. */
const MOST_LISTENERS = { inAll: 500, ofToken: 100, ofSession: 20 };
/** Time between two comments, which keep proxies from closing an idle-looking connection. */
const COMMENT_EVERY_MS = 15 * SECOND_MS;
/** A listener with more unread bytes than this is behind: it gets no events until it has read them, since later ones replace them. */
const MOST_WAITING_BYTES = 64 * 1024;
/** A listener that is behind for this long is cut off, so that others can have its place. */
const MOST_BEHIND_MS = 2 * MINUTE_MS;
/** Time after which a browser reconnects. */
const RETRY_MS = 2 * SECOND_MS;

/** Adds the stream of server-sent events: the fleet each second, and one run if asked for. */
export function addEventRoutes(app: Api, { feed, clock, sessions, tokens }: ApiParts): void {
  const places = new Shares(MOST_LISTENERS);
  app.get(
    '/api/events',
    {
      config: { types: ['text/event-stream'] },
      schema: {
        tags: ['fleet'],
        operationId: 'streamEvents',
        summary: 'Server-sent events: `fleet`, `run` (of ?run=), `unavailable`',
        querystring: z.strictObject({ run: runIdSchema.optional() }),
        response: { 200: z.string().describe('text/event-stream') },
      },
    },
    async ({ query: { run }, headers, method, caller }, reply) => {
      const { raw } = reply;
      if (raw.destroyed) throw new Problem('timeout', 'the client has hung up');
      const giveBack = places.take({
        token: tokens.isEmpty ? undefined : caller?.name,
        session: headers.authorization === undefined ? sessions.idOf(headers.cookie) : undefined,
      });
      raw.once('close', giveBack);
      reply.hijack();
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        ...ANSWER_HEADERS,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      // A HEAD request gets no body, hence no events: it would only hold a listener's place for ever.
      if (method === 'HEAD') {
        raw.end();
        return;
      }
      // The stream ends with the session, even if the connection would live on.
      const endsAt = sessions.endOf(headers.cookie);
      raw.write(`retry: ${RETRY_MS}\n\n`);
      const over = new AbortController();
      let behindSince: number | undefined;
      const end = feed.listen((event, data) => {
        if (sessions.wasEnded(headers.cookie)) {
          over.abort();
          return;
        }
        // A run's event shares the fate of the fleet's event just before it.
        if (event !== 'run')
          behindSince = raw.writableLength > MOST_WAITING_BYTES ? (behindSince ?? clock.monotonic()) : undefined;
        if (behindSince === undefined) raw.write(`event: ${event}\ndata: ${data}\n\n`);
      }, run);
      raw.on('close', () => {
        end();
        over.abort();
      });
      while (!over.signal.aborted) {
        await clock.sleep(Math.min(COMMENT_EVERY_MS, endsAt - clock.now()), over.signal);
        if (over.signal.aborted || clock.now() >= endsAt) break;
        if (behindSince !== undefined && clock.monotonic() - behindSince >= MOST_BEHIND_MS) raw.destroy();
        else raw.write(':\n\n');
      }
      end();
      raw.end();
    },
  );
}
