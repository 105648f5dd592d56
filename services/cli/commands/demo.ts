import type { Command } from 'commander';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, QUIET_HELP, withContext } from '../command.ts';
import { DemoSite } from '../process/demo-site.ts';
import { print } from '../text/output.ts';
import { crawl } from './crawl.ts';

/** Fast, yet slow enough to watch. */
const DEMO_RATE = '1200/min';

/** `trawl demo`: serves a small local site and crawls it as `trawl crawl` does. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'worker', 'output'])
      .option('--quiet', QUIET_HELP)
      .action(async (options: object) => {
        const asked = { rate: DEMO_RATE, privateHosts: '127.0.0.0/8', proxyUrl: 'none', ...options };
        exit(await withContext(asked, { logLevel: 'warn', tellsProgress: true, stopsInOrder: true }, demo));
      });
  },
};

async function demo(context: Context): Promise<number> {
  const site = new DemoSite();
  await site.start();
  try {
    if (!context.json && context.telling !== 'nothing') {
      const same = `  ${TRAWL} crawl ${site.url} --rate ${DEMO_RATE} --private-hosts 127.0.0.0/8`;
      print([`Serving a small site at ${site.url} and crawling it, as this command would:`, same, '']);
    }
    return await crawl([site.url], { isKept: false }, context);
  } finally {
    await site.stop();
  }
}
