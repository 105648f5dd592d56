import { z } from 'zod';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { Sessions } from '../access/sessions.ts';
import { Problem } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { runIdSchema } from '../schemas/inputs.ts';

/** Listeners at once, each an open connection. */
const MOST_LISTENERS = 500;
/** A comment that often keeps proxies from closing what looks idle. */
const COMMENT_EVERY_MS = 15 * SECOND_MS;
/** With more than this waiting a listener is behind: events are left out until it has read them, since the next ones tell more. */
const MOST_WAITING_BYTES = 64 * 1024;
/** A browser whose connection breaks comes back after this. */
const RETRY_MS = 2 * SECOND_MS;

/** What happens, as server-sent events: the fleet each second, and a run. */
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
        throw new Problem('too_many_requests', `${MOST_LISTENERS} listen already`, { retryAfterMs: 10_000 });
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-accel-buffering': 'no',
      });
      // Events are its body: a HEAD would wait for none for ever, and hold a listener's place.
      if (method === 'HEAD') {
        raw.end();
        return;
      }
      // Whose session is over hears nothing more, however long the connection stands.
      const endsAt = sessions.endOf(headers.cookie);
      raw.write(`retry: ${RETRY_MS}\n\n`);
      const over = new AbortController();
      let isBehind = false;
      const end = feed.listen((event, data) => {
        // A run's event follows the fleet's, which was written just now.
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
