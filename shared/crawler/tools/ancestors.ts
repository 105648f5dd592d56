/** Does an element match? */
export type Query<Node> = (element: Node) => boolean;

/** What was found out about elements; forgotten with them. */
export interface Answers<Node> {
  get(element: Node): boolean | undefined;
  set(element: Node, answer: boolean): unknown;
}

/** The elements that a selector is looked for in. */
export interface Ancestry<Node> {
  /** The element around one; nothing around the outermost. */
  readonly parentOf: (element: Node) => Node | undefined;
  /** Is an element behind a sibling that matches? Left out where selectors have no `~`. */
  readonly behind?: (matches: Query<Node>) => Query<Node>;
  /** A place for the answers to one question. */
  readonly answers: () => () => Answers<Node>;
  /** Compiles a selector, in which these pseudo-classes may be. */
  readonly compile: (css: string, pseudos: Readonly<Record<string, Query<Node>>>) => Query<Node>;
}

/** Within this many elements, it costs less to look at pairs and triples of them than to remember answers. */
const SHALLOW = 16;

/**
 * Compiles a selector for css-select, which looks for `a b c d` in all pairs and triples of ancestors: in a page that nests 450 elements, one
 * such selector takes minutes. Here, what is left of a white space is a pseudo-class of its own in deep places, `d:within-2`, and each element
 * is asked once whether it is in a match for it. So it is with `a ~ b`, for which css-select looks at all siblings in front of each element.
 */
export function compiledInSteps<Node>(css: string, ancestry: Ancestry<Node>): Query<Node> {
  // What is invalid is named in its own words.
  const whole = ancestry.compile(css, {});
  const selectors = UNUSUAL.test(css) ? undefined : selectorsOf(css);
  const needsSteps = (steps: readonly Step[]) => isLong(steps) || (ancestry.behind !== undefined && hasSibling(steps));
  if (selectors === undefined || !selectors.some(needsSteps)) return whole;
  const pseudos: Record<string, Query<Node>> = {};
  const rewritten = selectors.map((steps) => (needsSteps(steps) ? inSteps(steps, pseudos, ancestry) : textOf(steps)));
  return ancestry.compile(rewritten.join(','), pseudos);
}

/** A selector of one pseudo-class, which is added to the others, and what is right of the last white space or `~`. */
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

/** A compound, such as `a.b[c]`, and what is in front of it: white space, `>`, or nothing at the beginning. */
interface Step {
  readonly combinator: string;
  readonly compound: string;
}

/** With escapes and comments, white space may mean something else; `:scope` may be anywhere. */
const UNUSUAL = /\\|\/\*|:scope/i;

/** Are there two ancestors to look for? */
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

/** The selectors of a list in steps; nothing if they are none, begin with a sibling, or end with a combinator. */
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

/** Compounds, and the characters between them. */
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

/** Is an element inside one that matches? */
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
