import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCommandLine } from '../bench/command-line.ts';

readCommandLine(
  `node scripts/terminal-picture.ts
Runs the demo in a terminal (tmux, which must be installed) and draws docs/terminal.svg, which shows the terminal during the crawl and
after it.`,
  {},
);
const CHECKOUT = join(import.meta.dirname, '..');
const COLUMNS = 96;
const [ADVANCE, LINE_HEIGHT, MARGIN, FONT_SIZE] = [8.4, 20, 16, 14];
const MID_CRAWL_MS = 2_500;
const ENDED_MS = 20_000;
const LOOK_EVERY_MS = 200;
const [BACKGROUND, PLAIN] = ['#1b1f27', '#d8dee9'];
/** Colours by their number in an escape sequence (ECMA-48, section 8.3.117). */
const COLOURS: Readonly<Record<string, string>> = {
  '31': '#e06c75',
  '32': '#98c379',
  '33': '#e5c07b',
  '36': '#56b6c2',
};

/** A piece of a line in one colour. */
interface Piece {
  readonly text: string;
  readonly colour: string;
}

const session = `trawl-picture-${process.pid}`;
const command =
  'PS1="$ " PATH="$PWD/node_modules/.bin:$PATH" TRAWL_COMMAND=trawl node services/cli/trawl.ts demo; sleep 60';
tmux('new-session', '-d', '-s', session, '-x', String(COLUMNS), '-y', '24', '-c', CHECKOUT, command);
try {
  await sleep(MID_CRAWL_MS);
  const during = screen();
  const until = performance.now() + ENDED_MS;
  while (!screen().some((line) => line.includes('Records:'))) {
    if (performance.now() > until) throw new Error(`the demo is still under way:\n${screen().join('\n')}`);
    await sleep(LOOK_EVERY_MS);
  }
  const lines = ['$ trawl demo', ...during, '', ...screen().slice(during.length - 1)];
  writeFileSync(join(CHECKOUT, 'docs/terminal.svg'), pictureOf(lines.map(piecesOf)));
} finally {
  tmux('kill-session', '-t', session);
}

function tmux(...args: string[]): string {
  return execFileSync('tmux', args, { encoding: 'utf8' });
}

/** Returns the lines that the terminal shows, without the empty ones at the end. */
function screen(): string[] {
  return tmux('capture-pane', '-p', '-e', '-t', session).trimEnd().split('\n');
}

function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = [];
  let colour = PLAIN;
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text === undefined) colour = COLOURS[codes?.split(';').at(-1) ?? ''] ?? PLAIN;
    else pieces.push({ text, colour });
  }
  return pieces;
}

function pictureOf(lines: readonly (readonly Piece[])[]): string {
  const [width, height] = [Math.ceil(COLUMNS * ADVANCE) + 2 * MARGIN, lines.length * LINE_HEIGHT + 2 * MARGIN];
  const rows = lines.map((pieces, n) => {
    const spans = pieces.map(({ text, colour }) => `<tspan fill="${colour}">${escaped(text)}</tspan>`).join('');
    return `<text x="${MARGIN}" y="${MARGIN + n * LINE_HEIGHT + FONT_SIZE}" xml:space="preserve">${spans}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}">
<title>The demo in a terminal: while it is under way, and its summary</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
${rows.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
