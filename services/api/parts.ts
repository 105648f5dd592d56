import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ControlMetrics } from '../../shared/metrics/process-metrics.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/settings/table.ts';
import type { Sessions } from './access/sessions.ts';
import type { Role, Tokens } from './access/tokens.ts';
import type { Audit } from './audit.ts';
import type { Batches } from './batches/batches.ts';
import type { FleetFeed } from './feed.ts';
import type { HostList } from './host-list.ts';
import type { LetterBrowser } from './letter-browser.ts';
import type { Link } from './link.ts';
import type { Offers } from './offers.ts';
import type { Producers } from './producers.ts';
import type { Snapshots } from './snapshots.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** What the routes work with. `ApiServer` opens and closes it. */
export interface ApiParts {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly link: Link;
  readonly snapshots: Snapshots;
  readonly letters: LetterBrowser;
  readonly hosts: HostList;
  readonly feed: FleetFeed;
  readonly audit: Audit;
  readonly offers: Offers;
  readonly producers: Producers;
  readonly batches: Batches;
  readonly webhooks: Webhooks;
  readonly metrics: ControlMetrics;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The role that a caller needs. `none` asks for no token and `session` leaves the check to the route. Defaults to `read` for methods
     * that change nothing, to `admin` for the others.
     */
    role?: Role | 'none' | 'session';
    /** The route's name in the audit, such as `pause run`. Left out where the route changes nothing. */
    action?: string;
    /** Media types of the route's answers. Defaults to JSON. */
    types?: readonly string[];
  }
}

/** Fastify with request and answer types inferred from the routes' schemas. */
export type Api = FastifyInstance<
  import('node:http').Server,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  import('fastify').FastifyBaseLogger,
  ZodTypeProvider
>;
