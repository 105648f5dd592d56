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
    'Address to listen on. Any other than a loopback address needs tokens.',
  ),
  apiPort: setting('api', 'API_PORT', integer({ min: 0, max: 65_535 }), '8080', 'Port to listen on; 0: any free port.'),
  apiTokens: setting(
    'api',
    'API_TOKENS',
    list(),
    '',
    'Access tokens as name:role:secret, comma-separated; the role is read, submit or admin.',
    { secret: true },
  ),
  apiTokensFile: setting('api', 'API_TOKENS_FILE', text(), '', 'File of such tokens, one per line.'),
  apiHosts: setting(
    'api',
    'API_HOSTS',
    hosts(),
    '',
    "Host names the API is reached by, besides addresses, localhost and the machine's own: trawl.example.com, comma-separated.",
  ),
  apiProxies: setting(
    'api',
    'API_PROXIES',
    addresses(),
    '',
    "Reverse proxies whose X-Forwarded-For is trusted for the client's address: addresses or CIDRs, comma-separated.",
  ),
} as const;
