import type { Command } from 'commander';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, QUIET_HELP, withContext } from '../command.ts';
import { DemoSite } from '../process/demo-site.ts';
import { print } from '../text/output.ts';
import { crawl } from './crawl.ts';

/** The settings of the demo that are not the usual ones. The rate is fast, yet slow enough to watch. */
const OWN = { rate: '1200/min', privateHosts: '127.0.0.0/8', proxyUrl: 'none' } as const;

/** `trawl demo`: serves a small local site and crawls it as `trawl crawl` does. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'worker', 'output'], OWN)
      .option('--quiet', QUIET_HELP)
      .action(async (options: object) => {
        exit(
          await withContext(
            { ...OWN, ...options },
            { logLevel: 'warn', tellsProgress: true, stopsInOrder: true },
            demo,
          ),
        );
      });
  },
};

async function demo(context: Context): Promise<number> {
  const site = new DemoSite();
  await site.start();
  try {
    if (!context.json && context.telling !== 'nothing') {
      const same = `  ${TRAWL} crawl ${site.url} --rate ${OWN.rate} --private-hosts ${OWN.privateHosts}`;
      print([`Serving a small site at ${site.url} and crawling it, as this command would:`, same, '']);
    }
    return await crawl([site.url], { isKept: false }, context);
  } finally {
    await site.stop();
  }
}
