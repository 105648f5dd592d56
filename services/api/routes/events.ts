import { z } from 'zod';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { Sessions } from '../access/sessions.ts';
import { Problem } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { runIdSchema } from '../schemas/inputs.ts';

/** Maximum number of listeners, each an open connection. */
const MOST_LISTENERS = 500;
/** Time between two comments, which keep proxies from closing an idle-looking connection. */
const COMMENT_EVERY_MS = 15 * SECOND_MS;
/** A listener with more unread bytes than this is behind: it gets no events until it has read them, since later ones replace them. */
const MOST_WAITING_BYTES = 64 * 1024;
/** Time after which a browser reconnects. */
const RETRY_MS = 2 * SECOND_MS;

/** Adds the stream of server-sent events: the fleet each second, and one run if asked for. */
export function addEventRoutes(app: Api, { feed, clock, tokens }: ApiParts): void {
  const sessions = new Sessions(tokens, clock);
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
    async ({ query: { run }, headers, method }, reply) => {
      if (feed.listeners >= MOST_LISTENERS)
        throw new Problem('too_many_requests', `there are ${MOST_LISTENERS} listeners already`, {
          retryAfterMs: 10_000,
        });
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
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
      let isBehind = false;
      const end = feed.listen((event, data) => {
        // A run's event shares the fate of the fleet's event just before it.
        if (event !== 'run') isBehind = raw.writableLength > MOST_WAITING_BYTES;
        if (!isBehind) raw.write(`event: ${event}\ndata: ${data}\n\n`);
      }, run);
      raw.on('close', () => {
        end();
        over.abort();
      });
      while (!over.signal.aborted) {
        await clock.sleep(Math.min(COMMENT_EVERY_MS, endsAt - clock.now()), over.signal);
        if (over.signal.aborted) return;
        if (clock.now() >= endsAt) break;
        raw.write(':\n\n');
      }
      end();
      raw.end();
    },
  );
}
