import { writeSync } from 'node:fs';
import { printable } from '../../runtime/printable.ts';
import { exitNow } from '../../runtime/process-exit.ts';
import { loadFiles } from './load.ts';

/*
 * Prints the problems of the modules in its arguments. Started by a process that has to end because another module blocks it forever.
 */
const STDERR = 2;
const { problems } = await loadFiles(process.argv.slice(2));
if (problems.length > 0) writeSync(STDERR, problems.map((problem) => `${printable(problem)}\n`).join(''));
exitNow();
