import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(import.meta.dirname, '../../..');
/** The program's folder, and its real path if it is a symlink: a stack can name either. */
const ROOTS = [...new Set([ROOT, realpathSync(ROOT)])];
/** Folders of the program that don't belong to crawlers. */
const OURS = new Set(['services', 'shared']);

/** The current folder. Files in it are shown as a user would type them. */
const HERE = process.cwd();

/** Places on an error's stack, such as `crawlers/news.ts:7`. Files outside the program and the current folder have their full path. */
export interface Places {
  /** The innermost line of a crawler, or of a file that it imports, packages aside. */
  readonly crawler: string | undefined;
  /** The same place, for reading its line. */
  readonly source?: SourcePlace;
  /** The innermost line of any file. */
  readonly any: string | undefined;
}

/** A line of a file, counted from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
}

/** Reads the stack of an error in V8's format. */
export function placesIn(stack: string): Places {
  let any: string | undefined;
  for (const text of stack.split('\n')) {
    const line = text.trimStart();
    const location = line.startsWith('at ') ? locationIn(line) : undefined;
    if (location === undefined) continue;
    const own = within(ROOTS, location.file);
    const path = own ?? within([HERE], location.file) ?? location.file;
    const place = `${path}:${location.line}`;
    any ??= place;
    const parts = path.split(sep);
    const isOurs = own !== undefined && OURS.has(parts[0] ?? '');
    if (!isOurs && !parts.includes('node_modules'))
      return { crawler: place, source: { file: location.file, line: Number(location.line) }, any };
  }
  return { crawler: undefined, any };
}

/** Reads a stack line: `at step (file:///app/crawlers/news.ts:7:11)` or `at async /app/crawlers/news.ts:7:11`. */
function locationIn(line: string): { readonly file: string; readonly line: string } | undefined {
  const bracket = line.indexOf(' (');
  const whole = bracket < 0 ? line.slice(line.lastIndexOf(' ') + 1) : line.slice(bracket + 2, -1);
  const parts = whole.split(':');
  const [number = ''] = parts.splice(-2);
  const file = pathOf(parts.join(':'));
  return file === undefined ? undefined : { file, line: number };
}

function pathOf(place: string): string | undefined {
  if (isAbsolute(place)) return place;
  try {
    return place.startsWith('file:') ? fileURLToPath(place) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the path of a file, given by path or URL, as a user would type it if it is in the current folder. */
export function shownPath(file: string): string {
  const path = pathOf(file) ?? file;
  return within([HERE], path) ?? path;
}

function within(folders: readonly string[], file: string): string | undefined {
  for (const folder of folders) {
    const path = relative(folder, file);
    if (!path.startsWith('..') && !isAbsolute(path)) return path;
  }
  return undefined;
}
