import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withNumbers } from './numbers.ts';
import { rightsGuard } from './rights/commands.ts';
import { usedFunctions } from './rights/used-functions.ts';

/**
 * The text of each script, by file name. All are read at the start: later, a worker may lack file descriptors, or an upgrade may have put
 * the scripts of another version in their place.
 */
const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(join(import.meta.dirname, 'lua'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.lua'))
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')]),
);

/** The names of the scripts: one file each in a folder of `stores/redis/lua`. */
export type ScriptName =
  | 'admit'
  | 'agree'
  | 'producer_beat'
  | 'cache'
  | 'claim'
  | 'drain'
  | 'due'
  | 'fail'
  | 'find'
  | 'forget'
  | 'end_queued'
  | 'gate'
  | 'handed'
  | 'hosts'
  | 'inputs'
  | 'keep_result'
  | 'keep_robots'
  | 'known'
  | 'leave'
  | 'limit_host'
  | 'missing'
  | 'now'
  | 'offer'
  | 'oldest_due'
  | 'open'
  | 'pause_host'
  | 'pause_stuck'
  | 'paused'
  | 'paused_count'
  | 'paused_hosts'
  | 'progress'
  | 'queued'
  | 'reap'
  | 'release'
  | 'renew'
  | 'rights'
  | 'roster'
  | 'run_counts'
  | 'seal'
  | 'sent_late'
  | 'settle'
  | 'slow'
  | 'steer'
  | 'sweep'
  | 'tallies'
  | 'trace'
  | 'unmark'
  | 'unmark_all';

/** The libraries that scripts share, in the order in which they have to be defined. */
const LIBRARIES = [
  'marks.lua',
  'pages.lua',
  'prelude.lua',
  'keep_time.lua',
  'damage.lua',
  'late.lua',
  'host_pace.lua',
  'troubles.lua',
  'looked_at.lua',
  'put_back.lua',
  'groups.lua',
  'window.lua',
] as const;
type Library = (typeof LIBRARIES)[number];

interface Parts {
  /** The flags in its first line. */
  readonly flags: readonly string[];
  readonly needed: ReadonlySet<Library>;
  readonly body: string;
}

/**
 * Returns the text of a script: its first line, which has to stay the first, the libraries that all scripts share, those that its
 * header says it needs, and its own body. Creating functions costs a little every time a script runs, so each gets only those it
 * uses. `keep_time.lua` is left out of scripts that only read, and of those whose header says so.
 */
export function readScript(name: ScriptName): string {
  const { flags, needed, body } = partsOf(name);
  return textOf(flags, needed, body);
}

/**
 * Returns one script that makes several calls of these scripts, in order. Its arguments are the prefix, then for each call the script's
 * name, the number of its arguments and the arguments, then the time, which is the same for all calls. It replies with a list of
 * replies, with an error in place of each call that failed. Redis refuses a script in which a Lua function uses more than 60 variables
 * from outside it.
 */
export function joinScripts(names: readonly ScriptName[]): string {
  const all = names.map(partsOf);
  const flags = all.map(({ flags }) => flags).reduce((some, others) => some.filter((flag) => others.includes(flag)));
  const needed = new Set(all.flatMap(({ needed }) => [...needed]));
  const bodies = all.map(({ body }, at) => `function calls.${names[at]}(ARGV)\n${body}\nend\n`);
  return textOf(flags, needed, `local calls = {}\n${bodies.join('')}${readFile('joined.lua')}`);
}

function partsOf(name: ScriptName): Parts {
  const text = readFile(`${name}.lua`);
  const firstLine = text.indexOf('\n') + 1;
  const flags = /^#!lua flags=(\S+)\n/.exec(text)?.[1]?.split(',') ?? [];
  const needed = /^-- Needs {2}(.+)$/m.exec(text)?.[1]?.split(', ') ?? [];
  const keepsTime = !flags.includes('no-writes') && !/^-- Keeps no time/m.test(text);
  const always = ['marks.lua', 'pages.lua', 'prelude.lua', ...(keepsTime ? ['keep_time.lua'] : [])];
  return { flags, needed: new Set([...always, ...needed] as Library[]), body: text.slice(firstLine) };
}

function textOf(flags: readonly string[], needed: ReadonlySet<Library>, body: string): string {
  const shared = LIBRARIES.filter((library) => needed.has(library)).map(readFile);
  const firstLine = flags.length === 0 ? '#!lua' : `#!lua flags=${flags.join(',')}`;
  const script = withNumbers(usedFunctions(shared.join('\n'), body) + body);
  return `${firstLine}\n${flags.includes('no-writes') ? '' : rightsGuard(script)}${script}`;
}

function readFile(file: string): string {
  const text = FILES.get(file);
  if (text === undefined) throw new Error(`no script is named ${file}`);
  return text;
}
