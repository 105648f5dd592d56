import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';

// Below the ports that systems use for outgoing connections (from 32,768 on Linux, from 49,152 on others), so that no connection
// of a test takes one of them.
const PORTS = { first: 12_000, each: 1_000, slices: 20 } as const;
// Concurrent test processes use separate slices, so that none takes a port that another is about to listen on.
const slice = PORTS.first + (Number(process.env.VITEST_POOL_ID ?? process.pid) % PORTS.slices) * PORTS.each;
let next = Math.floor(Math.random() * PORTS.each);

/** Returns a TCP port that nothing listens on, and that is not returned again for the next thousand calls. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS.each; tried += 1) {
    const port = slice + (next++ % PORTS.each);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port is free from ${slice} to ${slice + PORTS.each - 1}.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) =>
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
  );
  if (listens) await new Promise((resolve) => server.close(resolve));
  return listens;
}

export function which(program: string): string | undefined {
  return tryRun('sh', ['-c', `command -v ${program}`])?.trim() || undefined;
}

export function tryRun(program: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}
