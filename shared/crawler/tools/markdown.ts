import type { AnyNode, Element } from 'domhandler';
import { escapeAttribute, escapeText } from 'entities';
import type TurndownService from 'turndown';
import { MAX_MARKDOWN_NODES, MAX_MARKDOWN_TEXT } from '../../task/task/page-limits.ts';
import type { LinkBase } from '../../task/url/url.ts';
import { turndown } from './libraries.ts';
import { elementsNamed, isElement } from './nodes.ts';
import { gridOf } from './table.ts';

/** Elements in each other that become markdown. Deeper ones are written as content of the last. */
const MAX_DEPTH = 64;
/** White space in a row that is written, a `<br>` being one: the converter trims it in time that grows with the square of its length. */
const MAX_BLANKS = 256;
/** Not for readers. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  'script style template head title noscript svg math iframe object select button canvas audio video'.split(' '),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img']);
/** Attributes that markdown has a place for. */
const KEPT: ReadonlySet<string> = new Set(['alt', 'title', 'class', 'start']);
/** Where a picture may be that a script loads later, instead of the placeholder in its `src`. */
const SOURCES = ['src', 'data-src', 'data-lazy-src'] as const;
/** Addresses that lead nowhere: they hold a picture or a script themselves. */
const NO_ADDRESSES: ReadonlySet<string> = new Set(['data:', 'javascript:', 'blob:']);
/** Blocks that the converter doesn't know. */
const MORE_BLOCKS: ReadonlySet<string> = new Set(['caption', 'details', 'dialog', 'legend', 'search', 'summary']);
const HEADING = /^h[1-6]$/;
const TABLE: ReadonlySet<string> = new Set(['table']);
const TABLE_PARTS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th']);

/**
 * What a node says as markdown (CommonMark, with the tables of GitHub), its links absolute. Parts that are not for readers are left
 * out, and so is what exceeds the limits of `page-limits.ts`, since the time is proportional to it.
 */
export function markdownOf(node: AnyNode, base: LinkBase): string {
  service ??= newService();
  return service.turndown(boundedHtml(node, base));
}

let service: TurndownService | undefined;

function newService(): TurndownService {
  const made = new (turndown())({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
    hr: '---',
  });
  made.addRule('cell', {
    filter: 'td',
    replacement: (content) =>
      ` ${content
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .join(' ')
        .replaceAll('|', '\\|')} |`,
  });
  made.addRule('row', {
    filter: 'tr',
    replacement: (content, row) => {
      const isFirst = row.previousSibling === null;
      return `\n|${content}${isFirst ? `\n|${' --- |'.repeat(row.childNodes.length)}` : ''}`;
    },
  });
  made.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  return made;
}

/** HTML of a node that a converter can recurse into and finish in time. What it leaves open ends with it. */
function boundedHtml(top: AnyNode, base: LinkBase): string {
  let html = '';
  let nodes = 0;
  let characters = 0;
  let depth = 0;
  /** White space since the last text that the converter keeps: `<br>`, no-break spaces, and any in a `<pre>`. */
  let blanks = 0;
  let pres = 0;
  /** What is still to be written; a text is a tag. */
  const waiting: (AnyNode | string)[] = [top];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at === 'string') {
      html += at;
      const step = at.startsWith('</') ? -1 : 1;
      depth += step;
      if (/^<\/?pre\b/.test(at)) pres += step;
      continue;
    }
    if (++nodes > MAX_MARKDOWN_NODES || characters >= MAX_MARKDOWN_TEXT) break;
    if (isElement(at)) {
      if (LEFT_OUT.has(at.name) && !isHeadingButton(at)) continue;
      const name = nameOf(at);
      if (VOID.has(name)) {
        blanks = name === 'br' ? blanks + 1 : 0;
        if (blanks <= MAX_BLANKS) html += `<${name}${attributesOf(at, base)}>`;
      } else if (name === 'table') {
        // Not as arguments of one call: there may be too many.
        for (const part of partsOfTable(at).toReversed()) waiting.push(part);
      } else {
        const isTooDeep = depth >= MAX_DEPTH;
        if (!isTooDeep) waiting.push(`</${name}>`);
        pushChildren(waiting, at);
        if (!isTooDeep) waiting.push(`<${name}${attributesOf(at, base)}>`);
      }
    } else if ('data' in at) {
      const text = at.data.slice(0, MAX_MARKDOWN_TEXT - characters);
      characters += text.length;
      const shown = text.trimEnd();
      const end = text.slice(shown.length);
      const kept = pres > 0 ? end.length : end.replaceAll(/[\t\n\f\r ]+/g, '').length;
      blanks = shown === '' ? blanks + kept : kept;
      if (shown !== '' || kept === 0 || blanks <= MAX_BLANKS) html += escapeText(text.replaceAll(/\s+/g, bounded));
    } else {
      pushChildren(waiting, at);
    }
  }
  return html;
}

function bounded(blank: string): string {
  return blank.slice(0, MAX_BLANKS);
}

function pushChildren(waiting: (AnyNode | string)[], node: AnyNode): void {
  if (!('children' in node)) return;
  for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
}

/** The text of a heading that opens what is below it may be a button. */
function isHeadingButton({ name, parent }: Element): boolean {
  return name === 'button' && parent !== null && isElement(parent) && HEADING.test(parent.name);
}

/** A table's caption and tags, and what is in its cells. Cells that span others are followed by empty ones: markdown has no spans. */
function partsOfTable(table: Element): readonly (AnyNode | string)[] {
  const { rows } = gridOf(table);
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const caption = table.children.find((child) => isElement(child) && child.name === 'caption');
  const parts: (AnyNode | string)[] = caption === undefined ? ['<table>'] : [caption, '<table>'];
  for (const row of rows.slice(0, MAX_MARKDOWN_NODES / width)) {
    parts.push('<tr>');
    for (let at = 0; at < width; at++) {
      const cell = row[at];
      parts.push('<td>');
      if (cell !== undefined && !cell.isRepeated) for (const child of cell.element.children) parts.push(child);
      parts.push('</td>');
    }
    parts.push('</tr>');
  }
  return [...parts, '</table>'];
}

/** The name that a converter is given. A table for layout is a block of blocks. */
function nameOf(element: Element): string {
  const { name } = element;
  if (name === 'table') return isDataTable(element) ? name : 'div';
  if (TABLE_PARTS.has(name) || MORE_BLOCKS.has(name)) return 'div';
  return /^[a-z][a-z0-9]*$/.test(name) ? name : 'span';
}

function isDataTable(table: Element): boolean {
  const [, nested] = elementsNamed(table, TABLE).take(2);
  if (nested !== undefined) return false;
  const { rows } = gridOf(table);
  return rows.length > 1 && rows.some(({ length }) => length > 1);
}

function attributesOf({ name: tag, attribs }: Element, base: LinkBase): string {
  const addresses = tag === 'img' ? SOURCES.map((name) => attribs[name]) : [attribs.href];
  const address = addresses.map((written) => addressOf(written, base)).find((found) => found !== undefined);
  const kept = Object.entries(attribs).filter(([name]) => KEPT.has(name));
  if (address !== undefined) kept.push([tag === 'img' ? 'src' : 'href', address]);
  return kept.map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`).join('');
}

/** An address as it is to be written; nothing if it leads nowhere. */
function addressOf(written = '', base: LinkBase): string | undefined {
  if (/^\s*(?:data:|$)/i.test(written)) return undefined;
  const url = URL.parse(written, base.href);
  return url !== null && NO_ADDRESSES.has(url.protocol) ? undefined : (url?.href ?? written);
}
