import type { Command } from 'commander';
import { limitText } from '../../../shared/control/format.ts';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { rate } from '../../../shared/settings/parsers.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { addLocalOption, tell, withStores } from '../process/with-stores.ts';

interface LimitOptions {
  readonly local?: boolean;
}

/** `trawl limit HOST RATE|none`: caps the rate of all runs at a host until the limit is ended. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addLocalOption(addCommonOptions(command, ['fleet', 'output']), { takesRun: false })
      .argument('<host>', 'a host: example.com')
      .argument('<rate>', '2/s, 60/min, 100/h; none ends the limit')
      .action(async (host: string, text: string, options: LimitOptions) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => limit(host, text, options, context)));
      });
  },
};

async function limit(name: string, text: string, { local }: LimitOptions, context: Context): Promise<number> {
  const host = readHost(name);
  const read = rate()(text);
  if ('expected' in read) throw new UsageError(`expected the rate to be ${read.expected}, got "${text}"`);
  const intervalMs = read.value;
  return await withStores(context, 'trawl limit', { local }, async ({ gate }) => {
    const was = await gate.limit(host, intervalMs);
    const [before, is] = [limitText(was), limitText(intervalMs)];
    const how = intervalMs === 0 ? 'has no limit of its own' : `is limited to ${is}, for all runs together`;
    const sentence = was === intervalMs ? `Host ${host} ${how}, as before.` : `Host ${host} ${how}. It was: ${before}.`;
    tell(context, { host, was: before, is }, [sentence]);
    return 0;
  });
}
