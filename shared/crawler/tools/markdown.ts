import type { AnyNode, Element, ParentNode } from 'domhandler';
import { escapeAttribute, escapeText } from 'entities';
import type TurndownService from 'turndown';
import { MAX_MARKDOWN_NODES, MAX_MARKDOWN_TEXT } from '../../task/task/page-limits.ts';
import type { LinkBase } from '../../task/url/url.ts';
import { turndown } from './libraries.ts';
import { elementsNamed, isElement } from './nodes.ts';
import { gridOf } from './table.ts';

/** Elements in each other that become markdown. Deeper ones are written as content of the last. */
const MAX_DEPTH = 64;
/** Not for readers. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  'script style template head title noscript svg math iframe object select button canvas audio video'.split(' '),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img']);
/** Attributes that markdown has a place for. */
const KEPT: ReadonlySet<string> = new Set(['alt', 'title', 'class', 'start']);
const URLS: ReadonlySet<string> = new Set(['href', 'src']);
const TABLE: ReadonlySet<string> = new Set(['table']);
const SECTIONS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot']);
const TABLE_PARTS: ReadonlySet<string> = new Set([...TABLE, ...SECTIONS, 'tr', 'td', 'th']);

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
    filter: ['td', 'th'],
    replacement: (content) =>
      ` ${content
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
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
  /** What is still to be written; a text is the end tag of an element that is open. */
  const waiting: (AnyNode | string)[] = [top];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at === 'string') {
      html += at;
      depth--;
      continue;
    }
    if (++nodes > MAX_MARKDOWN_NODES || characters >= MAX_MARKDOWN_TEXT) break;
    if (isElement(at)) {
      if (LEFT_OUT.has(at.name)) continue;
      const name = nameOf(at);
      const isVoid = VOID.has(name);
      if (isVoid || (name !== '' && depth < MAX_DEPTH)) html += `<${name}${attributesOf(at, base)}>`;
      if (isVoid) continue;
      if (name !== '' && depth < MAX_DEPTH) {
        depth++;
        waiting.push(`</${name}>`);
      }
    } else if ('data' in at && !isBetweenCells(at)) {
      const text = at.data.slice(0, MAX_MARKDOWN_TEXT - characters);
      characters += text.length;
      html += escapeText(text);
    }
    if (!('children' in at)) continue;
    for (let child = at.children.length - 1; child >= 0; child--) waiting.push(at.children[child] as AnyNode);
  }
  return html;
}

/** The name that a converter is given; none if only the content counts. A table for layout is a block of blocks. */
function nameOf(element: Element): string {
  const { name } = element;
  if (!TABLE_PARTS.has(name)) return /^[a-z][a-z0-9]*$/.test(name) ? name : 'span';
  let table: ParentNode | null = element;
  while (table !== null && !(isElement(table) && table.name === 'table')) table = table.parent;
  if (table === null || !isElement(table) || !isDataTable(table)) return 'div';
  // Browsers and converters put all rows into one body.
  return SECTIONS.has(name) ? '' : name;
}

function isDataTable(table: Element): boolean {
  const known = dataTables.get(table);
  if (known !== undefined) return known;
  const [, nested] = elementsNamed(table, TABLE).take(2);
  const { rows } = gridOf(table);
  const isOne = nested === undefined && rows.length > 1 && rows.some(({ length }) => length > 1);
  dataTables.set(table, isOne);
  return isOne;
}

const dataTables = new WeakMap<Element, boolean>();

/** White space in a row or a table, but in no cell, is only the layout of the source. */
function isBetweenCells({ parent }: AnyNode): boolean {
  return (
    parent !== null && isElement(parent) && TABLE_PARTS.has(parent.name) && parent.name !== 'td' && parent.name !== 'th'
  );
}

function attributesOf({ attribs }: Element, base: LinkBase): string {
  return Object.entries(attribs)
    .filter(([name]) => KEPT.has(name) || URLS.has(name))
    .map(([name, value]) => {
      const written = URLS.has(name) ? (URL.parse(value, base.href)?.href ?? value) : value;
      return ` ${name}="${escapeAttribute(written)}"`;
    })
    .join('');
}
