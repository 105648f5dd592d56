import { z } from 'zod';
import { expectMayAsk } from '../access/access.ts';
import { LOCAL_CALLER } from '../access/tokens.ts';
import { batchAnswerSchema } from '../batches/batch-answer.ts';
import { batchSchema } from '../batches/batch-request.ts';
import { Problem, problemSchema } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { runIdSchema } from '../schemas/inputs.ts';

const tags = ['batches'];
const MOST_BODY_BYTES = 10 * 1024 * 1024;

/** Adds the routes of batches of URLs, answered in one call. */
export function addBatchRoutes(app: Api, { batches }: ApiParts): void {
  const errors = { 404: problemSchema, 503: problemSchema };
  app.post(
    '/api/crawl/batch',
    {
      bodyLimit: MOST_BODY_BYTES,
      config: { role: 'submit', action: 'batch' },
      schema: {
        tags,
        operationId: 'crawlBatch',
        summary: 'Crawl a batch of URLs',
        description:
          'Answers when all URLs are crawled, or at the time-out with the results so far. A client that disconnects cancels the batch, unless it sent Idempotency-Key or Prefer: respond-async.',
        headers: z.object({
          'idempotency-key': z.string().min(1).max(200).optional(),
          prefer: z.string().max(500).optional(),
        }),
        body: batchSchema,
        response: { 200: batchAnswerSchema, 202: batchAnswerSchema, 409: problemSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { 'idempotency-key': key, prefer = '' } = request.headers;
      expectMayAsk(request.caller, request.body.options);
      const isAsync = /\brespond-async\b/i.test(prefer);
      const batch = await batches.begin(request.body, request.caller ?? LOCAL_CALLER, { key, isAsync });
      await request.begins({ target: batch.run });
      if (isAsync) {
        await batch.begun;
        reply.header('location', `/api/crawl/batch/${batch.run}`).header('preference-applied', 'respond-async');
        return reply.code(202).send(await batch.soFar());
      }
      const onClose = (): void => {
        if (!reply.raw.writableFinished && key === undefined) batch.cancel();
      };
      reply.raw.once('close', onClose);
      // The client might have left while the batch was begun.
      if (reply.raw.destroyed) onClose();
      return await batch.ended;
    },
  );
  app.get(
    '/api/crawl/batch/:batch',
    {
      schema: {
        tags,
        operationId: 'getBatch',
        summary: 'The results of a batch so far',
        params: z.object({ batch: runIdSchema }),
        response: { 200: batchAnswerSchema, ...errors },
      },
    },
    async ({ params }) => {
      const found = await batches.find(params.batch);
      if (found === undefined) throw new Problem('unknown_batch', `no batch ${params.batch} is known`);
      return found;
    },
  );
  app.get(
    '/api/crawl/distributed/status',
    {
      schema: {
        tags,
        operationId: 'getDistributedStatus',
        summary: 'Could the fleet crawl a batch now?',
        response: { 200: z.object({ distributed_available: z.boolean(), message: z.string() }) },
      },
    },
    async () => await batches.availability(),
  );
}
