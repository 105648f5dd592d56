import type { Parser } from '../shared/settings/parsers.ts';
import type { Setting, SettingGroup } from '../shared/settings/setting.ts';
import { SETTINGS } from '../shared/settings/table.ts';

/** The lines around the generated part of docs/configuration.md. */
export const TABLE_START = '<!-- settings: npm run docs -->';
export const TABLE_END = '<!-- /settings -->';

const TITLES: Readonly<Record<SettingGroup, string>> = {
  run: 'Run (fixed when it opens)',
  fetch: 'Fetching',
  worker: 'Worker',
  fleet: 'Fleet',
  metrics: 'Metrics',
  output: 'Records',
  api: 'API',
  log: 'Log',
};

const CHOICES_OR_BOUNDS = /^(?:one of |some of |a (?:whole number|duration|rate .+,) from |(?=true or false$))(.+)$/;

/** Settings that only the Compose files read; the program never does. */
const COMPOSE_ONLY = `# docker-compose.yml

# Number of workers that docker compose up -d starts; --scale scraper=4 overrides it until the next up without --scale.
# WORKERS=1

# Memory limit of Redis. Producers wait at 80 % of it; a waiting URL takes about 350 bytes.
# REDIS_MAXMEMORY=2gb

# Memory limit of each worker and producer. A worker stays within it by working on fewer pages at once.
# WORKER_MEMORY=1g

# Ports published on 127.0.0.1.
# PUBLISH_AMQP_PORT=5672
# PUBLISH_UI_PORT=15672
# PUBLISH_REDIS_PORT=6379
# PUBLISH_POSTGRES_PORT=5432
# PUBLISH_API_PORT=8080

# docker-compose.monitoring.yml: its ports, also on 127.0.0.1, and the password of Grafana's user admin.
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
  return `# Copy to .env and uncomment the settings you change. Flags override the environment, which overrides this file.\n\n${groups.join('\n\n')}\n\n${COMPOSE_ONLY}`;
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

/** The choices or bounds of a setting, taken from the message with which its parser refuses anything else. */
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
