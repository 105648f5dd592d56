import { z } from 'zod';
import { UnavailableError } from '../../../shared/runtime/errors.ts';
import { Problem, problemSchema, unknownRun } from '../http/problem.ts';
import type { Api, ApiParts } from '../parts.ts';
import { reasonBody, runParams } from '../schemas/inputs.ts';

const hookSchema = z.object({
  id: z.string().describe('The same in every delivery'),
  state: z.enum(['waiting', 'delivering', 'delivered', 'failed']),
  attempts: z.array(z.object({ at: z.string(), status: z.int().nullable(), error: z.string().nullable() })),
});

/** Adds the routes that show a run's webhook and deliver it again. */
export function addWebhookRoutes(app: Api, { webhooks, link }: ApiParts): void {
  const tags = ['runs'];
  /** Throws the right problem for a run without a webhook. While the store is away, whether the run exists is unknown. */
  const noHook = async (run: string): Promise<never> => {
    const standing = await link
      .withStores(({ runs }) => runs.standing(run))
      .catch((error: unknown) => {
        if (!(error instanceof UnavailableError)) throw error;
        return 'away';
      });
    throw standing === undefined ? unknownRun(run) : new Problem('not_found', `run ${run} has no webhook`);
  };
  app.get(
    '/api/runs/:run/webhook',
    {
      schema: {
        tags,
        operationId: 'getWebhook',
        summary: 'The webhook of a run',
        params: runParams,
        response: { 200: hookSchema, 404: problemSchema },
      },
    },
    async ({ params: { run } }) => webhooks.find(run) ?? (await noHook(run)),
  );
  app.post(
    '/api/runs/:run/webhook/replay',
    {
      config: { role: 'submit', action: 'replay webhook' },
      schema: {
        tags,
        operationId: 'replayWebhook',
        summary: 'Deliver the webhook of a run again',
        params: runParams,
        body: reasonBody,
        response: { 202: hookSchema, 404: problemSchema, 409: problemSchema },
      },
    },
    async ({ params: { run } }, reply) => reply.code(202).send((await webhooks.replay(run)) ?? (await noHook(run))),
  );
}
