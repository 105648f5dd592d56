import { writeSync } from 'node:fs';
import { printable } from '../../runtime/printable.ts';
import { exitNow } from '../../runtime/process-exit.ts';
import { loadFiles } from './load.ts';

/*
 * Says what is wrong with the modules that it is given, and does nothing else: the process of another module, which never let go of
 * it, has to end.
 */
const STDERR = 2;
const { problems } = await loadFiles(process.argv.slice(2));
if (problems.length > 0) writeSync(STDERR, problems.map((problem) => `${printable(problem)}\n`).join(''));
exitNow();
