import type { AnyNode } from 'domhandler';
import { beginning } from '../../task/beginning.ts';
import type { LinkBase } from '../../task/url/url.ts';
import { markdownOf } from '../markdown/markdown.ts';
import type { NodeHandle } from '../tools/node-handle.ts';
import { aboutArticle } from './about-article.ts';
import { linesOf } from './article-lines.ts';
import { type MainPart, mainPart } from './main-part.ts';

/** The main content of a page: an article, a page of documentation, a thread. Facts that the page doesn't give are undefined. */
export interface Article {
  /** The heading, or else the page's title without the name of the site. */
  readonly title: string | undefined;
  /** The author or authors. */
  readonly byline: string | undefined;
  /** The date of publication, as the page writes it, usually in ISO 8601. */
  readonly published: string | undefined;
  /** The language, as the page writes it, such as `en` or `pt-BR`. */
  readonly language: string | undefined;
  /** The page's own summary, or else its first paragraph. */
  readonly excerpt: string | undefined;
  /** The text, a line for each block. */
  readonly text: string;
  /** The content as markdown with absolute links. Made on first use. */
  readonly markdown: string;
}

/** Characters of a line that can serve as an excerpt, at least and at most. */
const SHORTEST_EXCERPT = 50;
const LONGEST_EXCERPT = 1_000;

const NOTHING: ReadonlySet<AnyNode> = new Set();

/** Finds the article of an HTML page; undefined if it has none, as with a list of links. @param onCut called if the markdown was cut short */
export function articleIn(page: NodeHandle, base: LinkBase, onCut?: () => void): Article | undefined {
  const part = mainPart(page.node);
  if (part === undefined) return undefined;
  const { heading, ...about } = aboutArticle(page);
  // A heading above the article belongs to it.
  const above = heading === undefined || isIn(heading.node, part) ? undefined : heading.node;
  const lines = linesOf(part.top, part.without);
  const line = lines.find(({ length }) => length >= SHORTEST_EXCERPT);
  let markdown: string | undefined;
  return {
    ...about,
    excerpt: about.excerpt ?? (line === undefined ? undefined : beginning(line, LONGEST_EXCERPT)),
    text: [...(above === undefined ? [] : linesOf(above, NOTHING)), ...lines].join('\n'),
    get markdown() {
      markdown ??= [
        ...(above === undefined ? [] : [markdownOf(above, base, { onCut })]),
        markdownOf(part.top, base, { without: part.without, onCut }),
      ]
        .filter((each) => each !== '')
        .join('\n\n');
      return markdown;
    },
  };
}

function isIn(node: AnyNode, { top, without }: MainPart): boolean {
  for (let at: AnyNode | null = node; at !== null && !without.has(at); at = at.parent) if (at === top) return true;
  return false;
}
