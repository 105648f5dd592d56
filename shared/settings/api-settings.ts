import { integer, list, text } from './parsers.ts';
import { setting } from './setting.ts';
import { addresses, hosts } from './trust-parsers.ts';

/** The settings of `trawl api`. */
export const API_SETTINGS = {
  apiHost: setting(
    'api',
    'API_HOST',
    text(),
    '127.0.0.1',
    'The address to listen on. Any but a loopback address needs tokens.',
  ),
  apiPort: setting('api', 'API_PORT', integer({ min: 0, max: 65_535 }), '8080', 'The port to listen on; 0: any.'),
  apiTokens: setting(
    'api',
    'API_TOKENS',
    list(),
    '',
    'Who may do what: name:role:secret, comma-separated; a role is read, submit or admin.',
    { secret: true },
  ),
  apiTokensFile: setting('api', 'API_TOKENS_FILE', text(), '', 'The same as a file, one a line.'),
  apiHosts: setting(
    'api',
    'API_HOSTS',
    hosts(),
    '',
    'Names by which it is reached, besides addresses, localhost and the machine: trawl.example.com, comma-separated.',
  ),
  apiProxies: setting(
    'api',
    'API_PROXIES',
    addresses(),
    '',
    'Reverse proxies in front, whose X-Forwarded-For says who asks: addresses or CIDRs, comma-separated.',
  ),
} as const;
