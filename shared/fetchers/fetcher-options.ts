import type { HostHeaders } from '../task/host/host-headers.ts';
import type { AllowedPrivate } from '../task/host/private-address.ts';
import type { Resolve } from './address-guard.ts';
import type { BodyMemory } from './body-memory.ts';
import type { ConnectTurns } from './connect-turns.ts';
import type { IdleConnections } from './idle-connections.ts';
import type { Rotation } from './proxies/rotation.ts';
import type { Trust } from './trust.ts';

/** Time limit of each phase before the answer: connecting, the handshake, a proxy's tunnel. */
export const PHASE_MS = 10_000;

/** Time limit of a look-up, which may wait for its turn and ask twice. */
export const LOOKUP_MS = 20_000;

/** Maximum bytes of an answer's headers. Sites with long policies and many preloaded links exceed the 16 KB of Node.js; browsers read 256 KB. */
export const MOST_HEADER_BYTES = 65_536;

/** Time after which an idle connection is closed. Servers close theirs after 5 s or more; a polite crawl sends a host one request a second. */
export const IDLE_MS = 10_000;

/** Default memory budget for the bodies of pages. */
export const BODY_MEMORY_BYTES = 256 * 2 ** 20;

/** The options of every fetcher. */
export interface FetcherOptions {
  /**
   * Time limit of a whole request, body included. A look-up may take at most {@link LOOKUP_MS} of it, each other phase before the
   * answer {@link PHASE_MS}.
   */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** The private addresses that may be connected to. Default: none. */
  readonly allowedPrivate?: AllowedPrivate;
  /** Headers for certain hosts; never sent on after a redirect to another origin. Default: none. */
  readonly hostHeaders?: HostHeaders;
  /** Extra certificates to accept. Default: only those that the system trusts. */
  readonly trust?: Trust;
  /** The resolver. Default: the operating system's. */
  readonly resolve?: Resolve;
  /** The proxies to go through. Default: none. */
  readonly proxies?: Rotation;
  /** The memory budget for bodies. Default: its own, of {@link BODY_MEMORY_BYTES}. */
  readonly bodyMemory?: BodyMemory;
  /** The limit on connections being made at once. Default: its own. */
  readonly connectTurns?: ConnectTurns;
  /** The store of idle connections. Default: its own, bounded by the files and memory of this process. */
  readonly idleConnections?: IdleConnections;
}
