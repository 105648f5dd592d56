import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** Listens with the shortest backlog, and then blocks until it is told to end. */
const LISTENER = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(workerData), 0, 0));
  });
`;

/** Starts a loopback listener that accepts nothing: once its backlog is full, connections to it hang as if the host were gone. */
export async function startBlockedListener(): Promise<{ readonly url: string }> {
  const memory = new SharedArrayBuffer(4);
  const thread = new Worker(LISTENER, { eval: true, workerData: memory });
  const [port] = await once(thread, 'message');
  onTestFinished(async () => {
    Atomics.store(new Int32Array(memory), 0, 1);
    Atomics.notify(new Int32Array(memory), 0);
    await thread.terminate();
  });
  return { url: `http://127.0.0.1:${port}/` };
}
