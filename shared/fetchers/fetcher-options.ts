import type { HostHeaders } from '../task/host/host-headers.ts';
import type { AllowedPrivate } from '../task/host/private-address.ts';
import type { Resolve } from './address-guard.ts';
import type { BodyMemory } from './body-memory.ts';
import type { ConnectTurns } from './connect-turns.ts';
import type { Rotation } from './proxies/rotation.ts';

/** A phase before the answer (look-up, connection, handshake, a proxy's tunnel) that takes longer than this has failed. */
export const PHASE_MS = 10_000;

/** How long an idle connection is kept. Servers close theirs after anything from 5 s up; a slow crawl asks a host every second. */
export const IDLE_MS = 10_000;

/** For bodies, where nobody says otherwise. */
export const BODY_MEMORY_BYTES = 256 * 2 ** 20;

/** What every fetcher is made of. */
export interface FetcherOptions {
  /** For a whole request, body included. No phase before the answer may take more than {@link PHASE_MS} of it. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Default: nothing. */
  readonly allowedPrivate?: AllowedPrivate;
  /** Sent to the hosts that they are for, and no further than their origins. Default: none. */
  readonly hostHeaders?: HostHeaders;
  /** Default: the operating system's. */
  readonly resolve?: Resolve;
  /** The proxies to go through. Default: none. */
  readonly proxies?: Rotation;
  /** Default: {@link BODY_MEMORY_BYTES} of its own. */
  readonly bodyMemory?: BodyMemory;
  /** Default: its own. */
  readonly connectTurns?: ConnectTurns;
}
