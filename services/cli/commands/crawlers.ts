import { type Command, Option } from 'commander';
import { argLines } from '../../../shared/crawler/args.ts';
import { GRAPH_FORMATS, type GraphFormat, graphJson, graphLines } from '../../../shared/crawler/crawler-graph.ts';
import { crawlerJson } from '../../../shared/crawler/crawler-json.ts';
import { findAll, findCrawler } from '../../../shared/crawler/loading/catalogue.ts';
import { ConfigurationError } from '../../../shared/runtime/errors.ts';
import { SETTINGS } from '../../../shared/settings/table.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { tell } from '../process/with-stores.ts';
import { table } from '../text/table.ts';

interface GraphOptions {
  readonly format?: GraphFormat;
}

/** `trawl crawlers [list|graph NAME]`: the available crawlers, or where the steps of one lead. */
export const command: CommandModule = {
  define(command: Command, exit) {
    const { flag, help } = SETTINGS.crawlersDir;
    const define = (name: string, description: string, isDefault = false): Command =>
      addCommonOptions(command.command(name, { isDefault }).description(description), []).addOption(
        new Option(`--${flag} <value>`, help),
      );
    const run = async (options: object, action: (context: Context) => Promise<number>): Promise<void> =>
      exit(await withContext(options, { logLevel: 'warn' }, action));

    define('list', 'list the available crawlers and all their problems (the default)', true).action((options: object) =>
      run(options, list),
    );
    define('graph', "print a crawler's steps, and which leads to which")
      .argument('<crawler>', 'its name, or its file')
      .addOption(new Option('--format <format>', 'format of the graph [mermaid]').choices(GRAPH_FORMATS))
      .action((name: string, options: GraphOptions) => run(options, (context) => graph(name, options, context)));
  },
};

async function list(context: Context): Promise<number> {
  const { settings } = context;
  const { crawlers, problems } = await findAll(settings.crawlersDir, settings.crawler);
  const rows = crawlers.map(({ crawler, version, file }) => [
    crawler.name,
    version,
    crawler.steps.map(({ name }) => name).join(', '),
    argLines(crawler).join(', '),
    file,
  ]);
  tell(context, { crawlers: crawlers.map(crawlerJson), problems }, table([HEAD, ...rows]));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return 0;
}

const HEAD = ['NAME', 'VERSION', 'STEPS', 'ARGUMENTS', 'FILE'];

async function graph(name: string, { format = 'mermaid' }: GraphOptions, context: Context): Promise<number> {
  const { crawler, version } = await findCrawler(name, context.settings.crawlersDir);
  const document = { name: crawler.name, version, ...graphJson(crawler) };
  tell(context, document, graphLines(crawler, format));
  return 0;
}
