import type TurndownService from 'turndown';
import { turndown } from '../tools/libraries.ts';
import { altOf, escapedText, fenced, inertTex, targetOf } from './escapes.ts';

/**
 * Classes that `BoundedHtml` sets: on a `<code>` whose text isn't code in markdown but a formula or a reference, and on a list whose marks
 * must differ from those of the list before it.
 */
export const MARKS = {
  formula: 'formula',
  displayed: 'formula-displayed',
  reference: 'reference',
  other: 'other',
} as const;
/** The element in which a footnote is written, with its label in `class`. */
export const FOOTNOTE = 'section';

/** Makes a converter from the HTML of `BoundedHtml` to CommonMark with GitHub's tables, footnotes, formulas, checkboxes and deletions. */
export function newConverter(): TurndownService {
  const made = new (turndown())({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
    hr: '---',
  });
  const own = made.escape.bind(made);
  made.escape = (text) => escapedText(text, own);
  made.addRule('link', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement: (content, node) => {
      const link = node as HTMLElement;
      return `[${content}]${targetOf(link.getAttribute('href') ?? '', link.getAttribute('title'))}`;
    },
  });
  made.addRule('picture', {
    filter: 'img',
    replacement: (_, node) => {
      const [alt, src, title] = ['alt', 'src', 'title'].map((name) => (node as HTMLElement).getAttribute(name));
      return src ? `![${altOf(alt ?? null, own)}]${targetOf(src, title ?? null)}` : '';
    },
  });
  made.addRule('block of code', {
    filter: (node) => node.nodeName === 'PRE' && node.firstChild?.nodeName === 'CODE',
    replacement: (_, { firstChild }) => {
      const code = firstChild as HTMLElement;
      const [, language = ''] = /language-(\S+)/.exec(code.getAttribute('class') ?? '') ?? [];
      return `\n\n${fenced(code.textContent ?? '', language)}\n\n`;
    },
  });
  const isMark = (kind: string) => (node: HTMLElement) =>
    node.nodeName === 'CODE' && node.getAttribute('class') === kind;
  made.addRule('formula', {
    filter: isMark(MARKS.formula),
    replacement: (_, { textContent }) => `$${inertTex(textContent ?? '')}$`,
  });
  made.addRule('displayed', {
    filter: isMark(MARKS.displayed),
    replacement: (_, { textContent }) => `\n\n$$\n${inertTex(textContent ?? '')}\n$$\n\n`,
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
      // Only a list that starts at 1 and has text can follow a line without a blank line between.
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
      // A tag alone on its line would begin a block of HTML, in which nothing is escaped.
      return content === '' || content.startsWith('[^')
        ? content
        : `<${name}>${content.replaceAll(/\s+/g, ' ')}</${name}>`;
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
