import { parentPort, workerData } from 'node:worker_threads';
import { TestSite } from '../site.ts';
import { answerHostile, hostileAnswer } from './answers.ts';
import type { HostileSites } from './sites.ts';

const { seed, count } = workerData as HostileSites;

const urls = await Promise.all(
  Array.from({ length: count }, async (_, n) => {
    const site = new TestSite();
    await site.start();
    site.on('/', (request, response) => answerHostile(hostileAnswer(seed, n), request, response));
    return site.url('/');
  }),
);
parentPort?.postMessage(urls);
