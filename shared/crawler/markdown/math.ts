import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { folded, sourceOf, textOf } from '../tools/text.ts';

/** A formula in TeX. */
export interface Formula {
  readonly tex: string;
  /** Whether the formula is on a line of its own. */
  readonly isDisplay: boolean;
}

/** Classes that Pandoc, Sphinx and MkDocs put around TeX for a script to render. */
const TEX_CLASS = /(?:^|\s)(?:math|arithmatex)(?:\s|$)/;
const DELIMITED = /^\s*(?:\\\((?<inline>[\s\S]*)\\\)|\\\[(?<display>[\s\S]*)\\\]|\$\$(?<dollars>[\s\S]*)\$\$)\s*$/;

/** Returns an element's formula: MathML, or TeX that MathJax or KaTeX would render. Undefined if it isn't a formula. */
export function formulaOf(element: Element): Formula | undefined {
  const { name, attribs } = element;
  if (name === 'math') {
    const tex = texOf(element);
    return tex === '' ? undefined : { tex, isDisplay: attribs.display === 'block' };
  }
  if (name === 'script') {
    const [type, mode = ''] = (attribs.type ?? '').split(';');
    return type === 'math/tex' ? { tex: folded(sourceOf(element)), isDisplay: mode.includes('display') } : undefined;
  }
  if (!TEX_CLASS.test(attribs.class ?? '')) return undefined;
  const own = element.children.map((child) => ('data' in child ? child.data : '')).join('');
  const { inline, display, dollars } = DELIMITED.exec(own)?.groups ?? {};
  const tex = inline ?? display ?? dollars;
  return tex === undefined ? undefined : { tex: folded(tex), isDisplay: inline === undefined };
}

/** Returns whether an element is the visible form of a formula that precedes it as MathML. */
export function isPictureOfFormula({ attribs, prev }: Element): boolean {
  if (!/(?:^|\s)(?:katex-html|mwe-math-fallback-image-\w+)(?:\s|$)/.test(attribs.class ?? '')) return false;
  for (let at = prev; at !== null; at = at.prev) if (isElement(at)) return true;
  return false;
}

const MAX_DEPTH = 64;

function texOf(math: Element): string {
  const note = annotationIn(math);
  const written = folded(note ?? math.attribs.alttext ?? '');
  if (written !== '') return /^\{\\displaystyle ([\s\S]*)\}$/.exec(written)?.[1] ?? written;
  return folded(writtenOut(math, 0));
}

/** Returns the TeX annotation of a formula, at most two elements deep in it. */
function annotationIn(math: Element): string | undefined {
  const inside = math.children.filter(isElement);
  const notes = [...inside, ...inside.flatMap(({ children }) => children.filter(isElement))];
  const found = notes.find(({ name, attribs }) => name === 'annotation' && /\btex\b/i.test(attribs.encoding ?? ''));
  return found === undefined ? undefined : sourceOf(found);
}

/** Writes the common elements of MathML as TeX. */
function writtenOut(node: AnyNode, depth: number): string {
  if (!isElement(node)) return 'data' in node ? node.data.trim() : '';
  if (node.name.startsWith('annotation')) return '';
  if (depth > MAX_DEPTH) return textOf(node);
  const parts = (): string[] =>
    node.children.filter((child) => isElement(child)).map((child) => writtenOut(child, depth + 1));
  switch (node.name) {
    case 'mtext':
      return `\\text{${textOf(node)}}`;
    case 'mi':
    case 'mn':
    case 'mo':
      return textOf(node);
    case 'mspace':
      return ' ';
    case 'mfrac':
      return `\\frac${grouped(parts())}`;
    case 'msqrt':
      return `\\sqrt{${parts().join(' ')}}`;
    case 'mroot': {
      const [of = '', root = ''] = parts();
      return `\\sqrt[${root}]{${of}}`;
    }
    case 'msup':
    case 'mover':
      return scripted(parts(), '^');
    case 'msub':
    case 'munder':
      return scripted(parts(), '_');
    case 'msubsup':
    case 'munderover': {
      const [base = '', below = '', above = ''] = parts();
      return `${base}_{${below}}^{${above}}`;
    }
    case 'mtable':
      return `\\begin{matrix}${parts().join(' \\\\ ')}\\end{matrix}`;
    case 'mtr':
      return parts().join(' & ');
    default:
      return parts().join(' ');
  }
}

function grouped(parts: readonly string[]): string {
  return parts.map((part) => `{${part}}`).join('');
}

function scripted([base = '', script = '']: readonly string[], mark: '^' | '_'): string {
  return `${base}${mark}{${script}}`;
}
