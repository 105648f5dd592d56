import type { Parser } from '../shared/settings/parsers.ts';
import type { Setting, SettingGroup } from '../shared/settings/setting.ts';
import { SETTINGS } from '../shared/settings/table.ts';

/** Between these stands the generated part of docs/configuration.md. */
export const TABLE_START = '<!-- settings: npm run docs -->';
export const TABLE_END = '<!-- /settings -->';

const TITLES: Readonly<Record<SettingGroup, string>> = {
  run: 'Of a run, fixed when it opens',
  fetch: 'Of fetching',
  worker: 'Of a worker',
  fleet: 'Of the fleet',
  metrics: 'Of metrics',
  output: 'Of records',
  api: 'Of the API',
  log: 'Of the log',
};

const CHOICES_OR_BOUNDS = /^(?:one of |some of |a (?:whole number|duration|rate .+,) from |(?=true or false$))(.+)$/;

/** Settings of docker-compose.yml alone: the program never reads them. */
const COMPOSE_ONLY = `# Of docker-compose.yml

# Workers that docker compose up -d brings the fleet to; --scale scraper=4 overrides it, until the next up without it.
# WORKERS=1

# What Redis may hold. Producers wait at 80 % of it; a URL that waits takes some 350 bytes.
# REDIS_MAXMEMORY=2gb

# Memory of each worker and producer. A worker keeps to it by working on fewer pages at once.
# WORKER_MEMORY=1g

# Ports published on 127.0.0.1.
# PUBLISH_AMQP_PORT=5672
# PUBLISH_UI_PORT=15672
# PUBLISH_REDIS_PORT=6379
# PUBLISH_POSTGRES_PORT=5432
# PUBLISH_API_PORT=8080

# Of docker-compose.monitoring.yml: its ports, on 127.0.0.1 too, and the password of Grafana's user admin.
# PUBLISH_PROMETHEUS_PORT=9090
# PUBLISH_GRAFANA_PORT=3000
# GRAFANA_PASSWORD=admin
`;

/** The text of `.env.example`: every setting, commented out, at its default. */
export function envExample(): string {
  const groups = byGroup().map(([title, settings]) => {
    const rows = settings.map(({ name, help, default: fallback }) => `# ${help}\n# ${name}=${fallback}\n`);
    return `# ${title}\n\n${rows.join('\n')}`;
  });
  return `# Copy to .env and uncomment what you change. Flags override the environment, which overrides this file.\n\n${groups.join('\n\n')}\n\n${COMPOSE_ONLY}`;
}

/** The table of docs/configuration.md. */
export function configurationTable(): string {
  const groups = byGroup().map(([title, settings]) => {
    const rows = settings.map(
      ({ name, flag, help, default: fallback, parse }) =>
        `| \`${name}\` | \`--${flag}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${takenBy(parse)} | ${help} |`,
    );
    return `\n### ${title}\n\n| setting | flag | default | takes | |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `${groups.join('')}\n`;
}

/** The choices or the bounds of a setting, in the words in which its parser refuses anything else. */
function takenBy(parse: Parser<unknown>): string {
  for (const refused of ['0ms', '\0']) {
    const read = parse(refused);
    const [, taken] = ('expected' in read && CHOICES_OR_BOUNDS.exec(read.expected)) || [];
    if (taken !== undefined) return taken;
  }
  return '';
}

function byGroup(): [string, Setting<unknown>[]][] {
  const settings: Setting<unknown>[] = Object.values(SETTINGS);
  return Object.entries(TITLES).map(([group, title]) => [title, settings.filter((setting) => setting.group === group)]);
}
