import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { installPackages } from '../../support/servers/debian.ts';
import { needPrograms } from '../../support/servers/ladder.ts';
import { which } from '../../support/servers/machine.ts';
import { startPrograms } from '../../support/servers/programs.ts';
import { FORM } from './form.ts';
import { tableOf } from './report.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** File to which rows report. */
    faultReport: string;
  }
}

/** The page that gets the table with `FAULT_TABLE=docs`. */
const PAGE = join(import.meta.dirname, '../../../docs/guarantees.md');
const [BEGIN, END] = ['<!-- faults: begin -->', '<!-- faults: end -->'];

/** Starts servers that no row breaks, for rows that break something else. At the end, prints the table of all rows. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const programs = needPrograms();
  if (which('faketime') === undefined) installPackages('faketime');
  const servers = await startPrograms(programs);
  const folder = mkdtempSync(join(tmpdir(), 'trawl-faults-'));
  const report = join(folder, 'rows.jsonl');
  writeFileSync(report, '');
  project.provide('rabbitmqUrl', servers.rabbitmqUrl);
  project.provide('redisUrl', servers.redisUrl);
  project.provide('faultReport', report);
  return async () => {
    const table = tableOf(report);
    process.stderr.write(`\n${FORM}\n\n${table}\n`);
    if (process.env.FAULT_TABLE === 'docs') putIntoDocs(table);
    rmSync(folder, { recursive: true });
    await servers.stop();
  };
}

function putIntoDocs(table: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  writeFileSync(PAGE, `${page.slice(0, from)}\n\n${table}\n${page.slice(to)}`);
}
