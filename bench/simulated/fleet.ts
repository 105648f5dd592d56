import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { SimulatedBroker, type ToBroker } from './broker.ts';
import type { PageTold } from './worker.ts';

interface FleetOptions {
  readonly redisUrl: string;
  readonly workers: number;
  readonly processes: number;
  /** Slots of each worker. */
  readonly slots: number;
}

interface Used {
  readonly kind: 'used';
  readonly cpuMs: number;
  readonly rssMb: number;
}

type Told = ToBroker | PageTold | Used | { readonly kind: 'ready' };

/** Simulated workers in a few processes, with the broker between them. */
export class SimulatedFleet {
  readonly broker = new SimulatedBroker();
  /** When the pages of each watched run were settled, in epoch milliseconds. */
  readonly pages = new Map<string, number[]>();
  readonly #children: ChildProcess[];

  constructor({ redisUrl, workers, processes, slots }: FleetOptions) {
    const each = Math.ceil(workers / processes);
    this.#children = Array.from({ length: processes }, (_, n) => {
      const count = Math.min(each, workers - n * each);
      return fork(join(import.meta.dirname, 'worker-process.ts'), [redisUrl, n * each, count, slots].map(String));
    });
  }

  async start(): Promise<void> {
    const ready = this.#children.map((child) => this.#listen(child));
    await Promise.all(ready);
  }

  /** Ends all processes. Returns the CPU time and memory they used. */
  async stop(): Promise<{ readonly cpuMs: number; readonly rssMb: number }> {
    const used = await Promise.all(
      this.#children.map(async (child) => {
        const told = new Promise<Used>((resolve) => {
          child.on('message', (said: Told) => {
            if (said.kind === 'used') resolve(said);
          });
        });
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        const usage = await told;
        await gone;
        return usage;
      }),
    );
    return {
      cpuMs: used.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      rssMb: Math.max(...used.map(({ rssMb }) => rssMb)),
    };
  }

  #listen(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`a process of simulated workers ended with ${code}`)));
      child.on('message', (said: Told) => {
        if (said.kind === 'ready') resolve();
        else if (said.kind === 'publish' || said.kind === 'room') this.broker.hear(child, said);
        else if (said.kind === 'page') this.pages.set(said.run, [...(this.pages.get(said.run) ?? []), said.at]);
      });
    });
  }
}
