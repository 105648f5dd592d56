/** Returns whether an element matches. */
export type Query<Node> = (element: Node) => boolean;

/** Known answers about elements, which are forgotten with the elements. */
export interface Answers<Node> {
  get(element: Node): boolean | undefined;
  set(element: Node, answer: boolean): unknown;
}

/** The tree in which a selector is looked for, and a compiler for selectors in it. */
export interface Ancestry<Node> {
  /** Returns the parent of an element; undefined for the outermost. */
  readonly parentOf: (element: Node) => Node | undefined;
  /** Returns a query for elements behind a sibling that matches. Missing where selectors have no `~`. */
  readonly behind?: (matches: Query<Node>) => Query<Node>;
  /** Makes a store for the answers to one question. */
  readonly answers: () => () => Answers<Node>;
  /** Compiles a selector that can use these pseudo-classes. */
  readonly compile: (css: string, pseudos: Readonly<Record<string, Query<Node>>>) => Query<Node>;
}

/** Depth up to which trying pairs and triples of ancestors costs less than remembering answers. */
const SHALLOW = 16;

/**
 * Compiles a selector for css-select. By itself css-select tries `a b c d` on all pairs and triples of ancestors: on a page that nests 450
 * elements, one such selector takes minutes. Here, deep in the tree, the part left of a white space becomes a pseudo-class, `d:within-2`,
 * and each element is checked only once for an ancestor that matches that part. The same goes for `a ~ b`, where css-select would check all
 * siblings in front of each element.
 */
export function compiledInSteps<Node>(css: string, ancestry: Ancestry<Node>): Query<Node> {
  // Compiled whole first, so that an error quotes an invalid selector as its author wrote it.
  const whole = ancestry.compile(css, {});
  const selectors = UNUSUAL.test(css) ? undefined : selectorsOf(css);
  const needsSteps = (steps: readonly Step[]) => isLong(steps) || (ancestry.behind !== undefined && hasSibling(steps));
  if (selectors === undefined || !selectors.some(needsSteps)) return whole;
  const pseudos: Record<string, Query<Node>> = {};
  const rewritten = selectors.map((steps) => (needsSteps(steps) ? inSteps(steps, pseudos, ancestry) : textOf(steps)));
  return ancestry.compile(rewritten.join(','), pseudos);
}

/** Rewrites a selector as its compound right of the last white space or `~` plus a pseudo-class for the rest, which is added to `pseudos`. */
function inSteps<Node>(steps: readonly Step[], pseudos: Record<string, Query<Node>>, ancestry: Ancestry<Node>): string {
  const last = steps.findLastIndex(isInside);
  let selector = '';
  for (const [at, step] of steps.entries()) {
    const count = Object.keys(pseudos).length;
    if (at > 0 && isInside(step)) {
      const inMatch = within(ancestry.compile(selector, { ...pseudos }), ancestry);
      const before = steps.slice(0, at);
      const plain = at === last && !hasSibling(before) ? ancestry.compile(`${textOf(before)} *`, {}) : inMatch;
      pseudos[`within-${count}`] = (element) => (isDeep(element, ancestry) ? inMatch(element) : plain(element));
      selector = `${step.compound}:within-${count}`;
    } else if (at > 0 && isBehind(step) && ancestry.behind !== undefined) {
      pseudos[`behind-${count}`] = ancestry.behind(ancestry.compile(selector, { ...pseudos }));
      selector = `${step.compound}:behind-${count}`;
    } else selector += textOf([step]);
  }
  return selector;
}

function isDeep<Node>(element: Node, { parentOf }: Ancestry<Node>): boolean {
  let depth = 0;
  for (let at = parentOf(element); at !== undefined; at = parentOf(at)) if (++depth > SHALLOW) return true;
  return false;
}

/** A compound, such as `a.b[c]`, and the combinator in front of it, such as white space or `>`; empty at the beginning. */
interface Step {
  readonly combinator: string;
  readonly compound: string;
}

/** Selectors that aren't split: in escapes and comments white space has another meaning, and `:scope` can be anywhere. */
const UNUSUAL = /\\|\/\*|:scope/i;

/** Returns whether a selector looks for two ancestors or more. */
function isLong(steps: readonly Step[]): boolean {
  return steps.slice(1).filter(isInside).length > 1;
}

function isInside({ combinator }: Step): boolean {
  return combinator === ' ';
}

function isBehind({ combinator }: Step): boolean {
  return combinator === '~';
}

function hasSibling(steps: readonly Step[]): boolean {
  return steps.slice(1).some(isBehind);
}

function textOf(steps: readonly Step[]): string {
  return steps.map(({ combinator, compound }) => `${combinator}${compound}`).join('');
}

/** Splits a list of selectors into steps; undefined if one is empty, begins with a sibling combinator, or the list ends with one. */
function selectorsOf(css: string): readonly (readonly Step[])[] | undefined {
  const selectors: Step[][] = [[]];
  let combinator = '';
  for (const unit of unitsOf(css)) {
    if (/^[\s>+~,]$/.test(unit)) combinator = `${combinator}${unit}`.trim() || ' ';
    else {
      if (combinator.startsWith(',')) {
        selectors.push([]);
        combinator = combinator.slice(1).trim();
      }
      selectors.at(-1)?.push({ combinator, compound: unit });
      combinator = '';
    }
  }
  const isUsual = selectors.every(([first]) => first !== undefined && !/[+~]/.test(first.combinator));
  return isUsual && combinator.trim() === '' ? selectors : undefined;
}

/** Splits a selector into compounds and the characters between them. */
function unitsOf(css: string): readonly string[] {
  const units = [''];
  let depth = 0;
  for (const [token] of css.matchAll(/"[^"]*"|'[^']*'|[^"']/g)) {
    if (token === ')' || token === ']') depth--;
    if (depth === 0 && /^[\s>+~,]$/.test(token)) units.push(token, '');
    else units[units.length - 1] += token;
    if (token === '(' || token === '[') depth++;
  }
  return units.filter((unit) => unit !== '');
}

/** Returns a query for elements inside one that matches. */
function within<Node>(matches: Query<Node>, { parentOf, answers }: Ancestry<Node>): Query<Node> {
  const known = answers();
  return (element) => {
    const answered = known();
    const asked: Node[] = [];
    let answer = false;
    for (let at = parentOf(element); at !== undefined && !answer; at = parentOf(at)) {
      const before = answered.get(at);
      if (before !== undefined) {
        answer = before;
        break;
      }
      asked.push(at);
      answer = matches(at);
    }
    for (const each of asked) answered.set(each, answer);
    return answer;
  };
}
