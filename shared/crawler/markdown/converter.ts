import type TurndownService from 'turndown';
import { turndown } from '../tools/libraries.ts';

/** Classes: of a `<code>` whose text stands in markdown as what the class says, and not as code; of a list with other marks than the one before. */
export const MARKS = {
  formula: 'formula',
  displayed: 'formula-displayed',
  reference: 'reference',
  other: 'other',
} as const;
/** The element that a footnote is written as, with its label in `class`. */
export const FOOTNOTE = 'section';

/** From HTML as `BoundedHtml` writes it to CommonMark with the tables, footnotes, formulas, boxes and deletions of GitHub. */
export function newConverter(): TurndownService {
  const made = new (turndown())({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
    hr: '---',
  });
  const escaped = made.escape.bind(made);
  made.escape = (text) =>
    escaped(text)
      .replaceAll(/<(?=[a-z/!?])/gi, '\\<')
      .replaceAll(/&(?=#?\w{1,32};)/g, '\\&')
      .replaceAll('~~', '\\~\\~')
      .replace(/^(\d{1,9})\) /, '$1\\) ');
  const isMark = (kind: string) => (node: HTMLElement) =>
    node.nodeName === 'CODE' && node.getAttribute('class') === kind;
  made.addRule('formula', { filter: isMark(MARKS.formula), replacement: (_, { textContent }) => `$${textContent}$` });
  made.addRule('displayed', {
    filter: isMark(MARKS.displayed),
    replacement: (_, { textContent }) => `\n\n$$\n${textContent}\n$$\n\n`,
  });
  made.addRule('reference', {
    filter: isMark(MARKS.reference),
    replacement: (_, { textContent }) => `[^${textContent}]`,
  });
  made.addRule('footnote', {
    filter: (node) => node.nodeName === FOOTNOTE.toUpperCase() && node.hasAttribute('class'),
    replacement: (content, node) => {
      const text = content.trim().replaceAll(/\n(?=[^\n])/g, '\n    ');
      return `\n\n[^${(node as HTMLElement).getAttribute('class')}]: ${text}\n\n`;
    },
  });
  made.addRule('list', {
    filter: ['ul', 'ol'],
    replacement: (content, node) => {
      const list = node as HTMLElement;
      const isInItem = list.parentNode?.nodeName === 'LI' && list.nextSibling === null;
      // Only a list from 1, and with a text, may follow a line without a blank one between.
      return isInItem && /^\s*(?:[-*]|1[.)]) +\S/.test(content) ? `\n${content}` : `\n\n${content}\n\n`;
    },
  });
  made.addRule('item', {
    filter: 'li',
    replacement: (content, node) => {
      const item = node as HTMLElement;
      const number = item.getAttribute('value');
      const isOther = item.parentElement?.getAttribute('class') === MARKS.other;
      const mark = number === null ? `${isOther ? '*' : '-'}   ` : `${number}${isOther ? ')' : '.'}  `;
      const text = content
        .replace(/^\n+/, '')
        .trimEnd()
        .replaceAll('\n', `\n${' '.repeat(mark.length)}`);
      return `${mark}${text}${content.endsWith('\n') ? '\n' : ''}${item.nextSibling === null ? '' : '\n'}`;
    },
  });
  made.addRule('raised', {
    filter: ['sup', 'sub'],
    replacement: (content, { nodeName }) => {
      const name = nodeName.toLowerCase();
      return content === '' || content.startsWith('[^') ? content : `<${name}>${content}</${name}>`;
    },
  });
  made.addRule('deleted', {
    filter: ['del', 's'],
    replacement: (content) => (content.trim() === '' ? '' : `~~${content}~~`),
  });
  made.addRule('quoted', { filter: 'q', replacement: (content) => `"${content}"` });
  made.addRule('box', {
    filter: 'input',
    replacement: (_, node) => ((node as HTMLElement).hasAttribute('checked') ? '[x]' : '[ ]'),
  });
  made.addRule('empty link', {
    filter: (node) =>
      node.nodeName === 'A' && node.textContent.trim() === '' && node.getElementsByTagName('img').length === 0,
    replacement: () => '',
  });
  made.addRule('cell', {
    filter: 'td',
    replacement: (content) =>
      ` ${content
        .split('\n')
        .map((line) => line.trim().replace(/^([-*]|\d+[.)]) +/, '$1 '))
        .filter((line) => line !== '')
        .join('<br>')
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
