import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { isLine } from '../tools/text.ts';

/** Classes of the numbers beside lines of code. */
const LINE_NUMBERS =
  /(?:^|\s)(?:gutter|rouge-gutter|linenos?|linenodiv|linenumbers?|line-numbers?|line-numbers-rows|hljs-ln-numbers|blob-num|react-syntax-highlighter-line-number)(?:\s|$)/;
/** Classes in which common highlighters name the language, the most trusted first. */
const LANGUAGES: readonly RegExp[] = [
  /(?:^|\s)lang(?:uage)?-([\w+#.-]+)/,
  /(?:^|\s)highlight-source-([\w+#.-]+)/,
  /(?:^|\s)brush:\s*([\w+#.-]+)/,
  /(?:^|\s)(?:sourceCode|hljs|highlight)\s+([\w+#.-]+)/,
];
/** Class of an ancestor of the code that names the language. */
const AROUND = /(?:^|\s)(?:(?:language|highlight-source|highlight)-|highlight (?!highlight))([\w+#.-]+)/;
const NO_LANGUAGE = /^(?:none|default|plain|plaintext|text|txt|notranslate|nohighlight|no-highlight|highlight)$/i;
/** Elements that contain only the code, so that their classes describe it, and the number of ancestors that are checked. */
const FRAMES: ReadonlySet<string> = new Set('div figure table tbody tr td code pre'.split(' '));
const MOST_AROUND = 6;
/** Characters of an element's classes that are searched for a language. */
const MOST_OF_CLASSES = 1_000;

/** Returns the lines of a `<pre>` as a reader would copy them, without line numbers. */
export function codeIn(pre: Element): string {
  let code = '';
  /** Whether the next text begins a new line. */
  let isApart = false;
  const waiting: (AnyNode | typeof END)[] = pre.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === END) isApart = true;
    else if ('data' in node) {
      if (isApart && code !== '' && !code.endsWith('\n')) code += '\n';
      isApart = false;
      code += node.data;
    } else if (isElement(node)) {
      if (node.name === 'br') code += '\n';
      if (node.name === 'button' || isLineNumbers(node)) continue;
      // Cells are on the same line.
      if (isLine(node.name) && node.name !== 'br' && node.name !== 'td') {
        isApart = true;
        waiting.push(END);
      }
      for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
    }
  }
  return code;
}

/** Marks the end of a block. */
const END = Symbol('end of a block');

/** Returns whether an element in code contains line numbers. */
function isLineNumbers({ name, attribs }: Element): boolean {
  return name !== 'pre' && name !== 'code' && LINE_NUMBERS.test(attribs.class ?? '');
}

/** Returns whether a text consists of line numbers only. */
export function isCount(text: string): boolean {
  const numbers = text.trim().split(/\s+/);
  const first = Number(numbers[0]);
  return Number.isInteger(first) && numbers.every((number, at) => number === `${first + at}`);
}

/** Returns the language that a highlighter has noted on or around a `<pre>`; empty if none. */
export function languageOf(pre: Element): string {
  const code = pre.children.find((child) => isElement(child) && child.name === 'code');
  const own = [pre, ...(code !== undefined && isElement(code) ? [code] : [])];
  for (const { attribs } of own) {
    const said = attribs['data-lang'] ?? attribs['data-language'] ?? attribs.lang;
    if (said !== undefined && isLanguage(said)) return said;
    for (const pattern of LANGUAGES) {
      const found = pattern.exec(classesOf(attribs))?.[1];
      if (found !== undefined && isLanguage(found)) return found;
    }
  }
  let at = pre.parent;
  for (let up = 0; up < MOST_AROUND && at !== null && isElement(at) && FRAMES.has(at.name); up++, at = at.parent) {
    const found = AROUND.exec(classesOf(at.attribs))?.[1];
    if (found !== undefined && isLanguage(found)) return found;
  }
  return '';
}

function classesOf(attribs: Element['attribs']): string {
  return (attribs.class ?? '').slice(0, MOST_OF_CLASSES);
}

function isLanguage(name: string): boolean {
  return /^[\w+#.-]{1,40}$/.test(name) && !NO_LANGUAGE.test(name);
}
