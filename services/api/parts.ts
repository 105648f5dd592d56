import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ControlMetrics } from '../../shared/metrics/process-metrics.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/settings/table.ts';
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

/** What the routes stand on. Whoever opens it closes it. */
export interface ApiParts {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly tokens: Tokens;
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
    /** What a caller must be allowed to do. `none`: nobody is asked. Left out: `read` for what only asks, else `admin`. */
    role?: Role | 'none' | 'session';
    /** What the route does, for the audit: `pause run`. Left out where it changes nothing. */
    action?: string;
    /** The media types of its answers. Left out: JSON. */
    types?: readonly string[];
  }
}

/** Fastify with types that follow from the routes' schemas. */
export type Api = FastifyInstance<
  import('node:http').Server,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  import('fastify').FastifyBaseLogger,
  ZodTypeProvider
>;
