import ipaddr from 'ipaddr.js';
import { openControlMetrics } from '../../shared/metrics/process-metrics.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { ConfigurationError, codeOf, messageOf } from '../../shared/runtime/errors.ts';
import { freeSpaceOf } from '../../shared/runtime/files/free-space.ts';
import { type Service, startAll, stopAll } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { Sessions } from './access/sessions.ts';
import { makeFirstToken, readTokens, type Tokens } from './access/tokens.ts';
import { openApp } from './app.ts';
import { Audit } from './audit.ts';
import { Batches } from './batches/batches.ts';
import { FleetFeed } from './feed.ts';
import { HostList } from './host-list.ts';
import { LetterBrowser } from './letter-browser.ts';
import { FleetLink, type Link, LocalLink } from './link.ts';
import { Offers } from './offers.ts';
import type { Api } from './parts.ts';
import { Producers } from './producers.ts';
import { Snapshots } from './snapshots.ts';
import { HookFile } from './webhooks/hook-file.ts';
import { Webhooks } from './webhooks/webhooks.ts';

interface ApiServerOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** Serves the crawls of this machine instead of a fleet's. */
  readonly isLocal: boolean;
}

/** The control plane as a process: its link to the fleet or the local crawls, and the HTTP server. */
export class ApiServer implements Service {
  readonly #options: ApiServerOptions;
  readonly #tokens: Tokens;
  /** Secret of the admin token made at the first start. Only its hash is stored, so it must be shown now. */
  readonly firstSecret: string | undefined;
  #opened: Pick<Service, 'stop'>[] = [];
  #app: Api | undefined;

  /** @throws ConfigurationError if other machines could reach the API without a token */
  constructor(options: ApiServerOptions) {
    const { apiHost, apiTokens, apiTokensFile } = options.settings;
    this.#options = options;
    this.firstSecret = makeFirstToken({ texts: apiTokens, file: apiTokensFile });
    this.#tokens = readTokens({ texts: apiTokens, file: apiTokensFile });
    if (this.#tokens.isEmpty && !isLoopback(apiHost))
      throw new ConfigurationError([
        `API_HOST ${apiHost} can be reached from other machines: set API_TOKENS, as name:role:secret, or use 127.0.0.1`,
      ]);
  }

  /** The address that the API listens on. */
  get url(): string {
    const address = this.#app?.server.address();
    if (address === null || typeof address !== 'object') throw new Error('the API is not listening');
    const { address: host, port, family } = address;
    return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}/`;
  }

  async start(): Promise<void> {
    const { settings, log, isLocal } = this.#options;
    const clock = systemClock;
    const link: Link = isLocal ? new LocalLink({ settings }) : new FleetLink({ settings, log });
    const resumeCommand = isLocal ? (run: string): string => `${TRAWL} crawl --resume ${run}` : undefined;
    const snapshots = new Snapshots(link, clock, resumeCommand);
    const feed = new FleetFeed(snapshots, clock, log);
    const audit = new Audit(settings.outputDir);
    const metrics = await openControlMetrics(
      { settings, log },
      { link, clock, hostConcurrency: settings.hostConcurrency, freeBytes: () => freeSpaceOf(settings.outputDir) },
    );
    const measures = metrics.crawls;
    const offers = new Offers({ settings, link, clock, log });
    const producers = new Producers({ settings, link, offers, measures, clock, log });
    const batches = new Batches({ settings, link, producers, measures, clock, log });
    const webhooks = new Webhooks({
      ...{ link, clock, log },
      onSent: metrics.webhookSent,
      file: new HookFile(settings.outputDir, { isLocal }),
      fetcher: () => producers.fetcher(),
      allowedPrivate: settings.privateHosts,
    });
    const services = [link, metrics, feed, offers, producers, batches, webhooks];
    this.#opened = [audit, ...services.toReversed()];
    try {
      await startAll(services);
      const parts = {
        settings,
        log,
        clock,
        tokens: this.#tokens,
        sessions: new Sessions(this.#tokens, clock),
        link,
        snapshots,
        letters: new LetterBrowser(link, clock),
        hosts: new HostList(link, clock),
        feed,
        audit,
        offers,
        producers,
        batches,
        webhooks,
        metrics,
      };
      this.#app = await openApp(parts);
      await this.#listen(this.#app);
    } catch (error: unknown) {
      await this.stop().catch(() => {});
      throw error;
    }
  }

  /** Stops accepting requests, closes the connections, then stops the services behind them. */
  async stop(): Promise<void> {
    await this.#app?.close();
    await stopAll(this.#opened);
    this.#opened = [];
  }

  async #listen(app: Api): Promise<void> {
    const { apiHost: host, apiPort: port } = this.#options.settings;
    try {
      await app.listen({ host, port });
    } catch (error: unknown) {
      const code = codeOf(error);
      if (code !== 'EADDRINUSE' && code !== 'EADDRNOTAVAIL' && code !== 'EACCES' && code !== 'ENOTFOUND') throw error;
      throw new ConfigurationError([`can't listen on ${host}:${port} (API_HOST, API_PORT): ${messageOf(error)}`], {
        cause: error,
      });
    }
  }
}

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
