import type { HostHeaders } from '../task/host/host-headers.ts';
import type { AllowedPrivate } from '../task/host/private-address.ts';
import type { Resolve } from './address-guard.ts';
import type { BodyMemory } from './body-memory.ts';
import type { ConnectTurns } from './connect-turns.ts';
import type { IdleConnections } from './idle-connections.ts';
import type { Rotation } from './proxies/rotation.ts';
import type { Trust } from './trust.ts';

/** A phase before the answer (connection, handshake, a proxy's tunnel) that takes longer than this has failed. */
export const PHASE_MS = 10_000;

/** Time limit of a look-up: it may wait for its turn, and ask twice. */
export const LOOKUP_MS = 20_000;

/** The longest headers of an answer. Those of sites with long policies and many preloaded links exceed the 16 KB of Node.js; browsers read 256 KB. */
export const MOST_HEADER_BYTES = 65_536;

/** How long an idle connection is kept. Servers close theirs after 5 s or more; a polite crawl asks a host every second. */
export const IDLE_MS = 10_000;

/** Default budget of memory for the bodies of pages. */
export const BODY_MEMORY_BYTES = 256 * 2 ** 20;

/** The options of every fetcher. */
export interface FetcherOptions {
  /**
   * Time limit of a whole request, body included. A look-up may take at most {@link LOOKUP_MS} of it, each other phase before the
   * answer {@link PHASE_MS}.
   */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Default: nothing. */
  readonly allowedPrivate?: AllowedPrivate;
  /** Headers for certain hosts; never sent on after a redirect to another origin. Default: none. */
  readonly hostHeaders?: HostHeaders;
  /** Default: what the system vouches for, and nothing else. */
  readonly trust?: Trust;
  /** The resolver. Default: the operating system's. */
  readonly resolve?: Resolve;
  /** The proxies to go through. Default: none. */
  readonly proxies?: Rotation;
  /** Default: {@link BODY_MEMORY_BYTES} of its own. */
  readonly bodyMemory?: BodyMemory;
  /** Default: its own. */
  readonly connectTurns?: ConnectTurns;
  /** Default: its own, bounded by how many files this process may have open. */
  readonly idleConnections?: IdleConnections;
}
