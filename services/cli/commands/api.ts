import type { Command } from 'commander';
import { apiUrlOf } from '../../../shared/runtime/started-as.ts';
import { ApiServer } from '../../api/server.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { Interrupts } from '../process/interrupts.ts';
import { tell } from '../process/with-stores.ts';
import { say } from '../text/output.ts';

interface ApiOptions {
  readonly local?: boolean;
}

/** `trawl api`: serves the HTTP API and the dashboard. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'fleet', 'output', 'api'])
      .option('--local', 'serve the crawls on this machine instead of the fleet')
      .action(async (options: ApiOptions) => {
        exit(
          await withContext(options, { logLevel: 'info', stopsInOrder: true }, (context) => serve(options, context)),
        );
      });
  },
};

async function serve({ local = false }: ApiOptions, context: Context): Promise<number> {
  const server = new ApiServer({ ...context, isLocal: local });
  const interrupts = new Interrupts();
  try {
    await server.start();
    tell(context, { url: server.url }, [`Listening on ${server.url}`]);
    if (server.firstSecret !== undefined) say(...firstTokenLines(server.firstSecret, server.url, context));
    const { signal } = interrupts;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await interrupts.within(
      () => server.stop(),
      () => {},
      interrupts.exitCode,
    );
  } finally {
    await server.stop();
    interrupts.close();
  }
  return interrupts.exitCode;
}

/** Shown once: only the hash is kept, so the secret can't be shown again. */
function firstTokenLines(secret: string, url: string, { settings: { apiTokensFile } }: Context): string[] {
  return [
    `A token named admin was created, and its hash written to ${apiTokensFile}. It is not shown again; without that file, the next start creates another:`,
    `  ${secret}`,
    `Dashboard: ${apiUrlOf(url)}#token=${secret}`,
  ];
}
