import { firstMatch } from '../../../task/first-match.ts';

/** The result of reading a literal at a place in a script. */
export interface Literal {
  /** The literal rewritten as JSON, which may still be invalid; undefined if there is no literal. */
  readonly json: string | undefined;
  /** Where reading ended. */
  readonly end: number;
}

/** The end of white space, and the same within a line. */
const NOT_BLANK = /\S/g;
const NOT_BLANK_ON_LINE = /[^ \t]/g;
/** Continues an expression of which the literal is only a part, as in `{} || a`, `'a' + b`, `[a].map(…)`. */
const GOES_ON = /[-+*%.?&|[(<>=]/y;
/** Number of parts after which they are joined: the parts of a value of megabytes would take a lot of memory. */
const MOST_PARTS = 8_192;
/** A number. Digits are limited, since V8's stack overflows on megabytes of them. */
const NUMBER =
  /[-+]?(?:0[xX][\da-fA-F]{1,1000}|(?:\d{1,1000}\.?\d{0,1000}|\.\d{1,1000})(?:[eE][-+]?\d{1,1000})?)(?![\da-fA-F])/y;
const NAME_BEGINS = /[\p{ID_Start}$_]/uy;
const NOT_IN_NAME = /[^\p{ID_Continue}$]/gu;
/** Values that are written as words, and their form in JSON. */
const WORDS: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  null: 'null',
  undefined: 'null',
  NaN: 'null',
  Infinity: 'null',
};
/** How minified scripts write `true`, `false` and `undefined`. */
const SHORT = /!([01])|void 0/y;
const PARSED = /\.parse\(/y;

/**
 * Reads a literal object, list, text or number in a script: JSON, and what JavaScript allows besides, such as names without quotes, single
 * quotes, trailing commas, comments, `!0`, `undefined` (as null) and `JSON.parse('…')`. At anything else, such as a call or a function, it
 * stops without a value. Takes time proportional to the length it reads, and executes nothing.
 */
export function literalAt(source: string, start: number): Literal {
  return new LiteralReader(source, start).read();
}

class LiteralReader {
  readonly #source: string;
  readonly #joined: string[] = [];
  #parts: string[] = [];
  #at: number;
  #depth = 0;

  constructor(source: string, start: number) {
    this.#source = source;
    this.#at = start;
  }

  read(): Literal {
    do if (!this.#skip() || !this.#token()) return { json: undefined, end: this.#at };
    while (this.#depth > 0);
    const end = this.#at;
    this.#at = firstMatch(this.#source, NOT_BLANK_ON_LINE, end);
    return { json: this.#match(GOES_ON) === undefined ? this.#joined.join('') + this.#parts.join('') : undefined, end };
  }

  /** Moves to the next token. Returns false if there is none. */
  #skip(): boolean {
    for (;;) {
      this.#at = firstMatch(this.#source, NOT_BLANK, this.#at);
      const closer = this.#source.startsWith('/*', this.#at)
        ? '*/'
        : this.#source.startsWith('//', this.#at)
          ? '\n'
          : undefined;
      if (closer === undefined) return this.#at < this.#source.length;
      const end = this.#source.indexOf(closer, this.#at + 2);
      this.#at = end < 0 ? this.#source.length : end + closer.length;
    }
  }

  /** Reads one token. Returns false if it can't be part of a literal. */
  #token(): boolean {
    const first = this.#source.charAt(this.#at);
    if ('{['.includes(first)) return this.#take(first, 1);
    if ('}]'.includes(first)) {
      if (this.#parts.at(-1) === ',') this.#parts.pop();
      return this.#depth > 0 && this.#take(first, -1);
    }
    if (',:'.includes(first)) return this.#depth > 0 && this.#take(first, 0);
    if (`"'\``.includes(first)) return this.#push(this.#text(first));
    const short = this.#match(SHORT);
    if (short !== undefined) return this.#push(short === '!0' ? 'true' : short === '!1' ? 'false' : 'null');
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#push(this.#isKey() ? `"${Number(number)}"` : jsonNumber(number));
    const name = this.#name();
    if (name !== undefined && this.#isKey()) return this.#push(JSON.stringify(name));
    if (name === 'JSON') return this.#push(this.#parsed());
    return name !== undefined && this.#push(Object.hasOwn(WORDS, name) ? WORDS[name] : undefined);
  }

  #take(mark: string, step: number): boolean {
    this.#at++;
    this.#depth += step;
    return this.#push(mark);
  }

  #push(part: string | undefined): boolean {
    if (part === undefined) return false;
    if (this.#parts.length === MOST_PARTS) {
      this.#joined.push(this.#parts.slice(0, -1).join(''));
      this.#parts = this.#parts.slice(-1);
    }
    this.#parts.push(part);
    return true;
  }

  #name(): string | undefined {
    const start = this.#at;
    if (this.#match(NAME_BEGINS) === undefined) return undefined;
    this.#at = firstMatch(this.#source, NOT_IN_NAME, this.#at);
    return this.#source.slice(start, this.#at);
  }

  /** Returns whether a colon follows. */
  #isKey(): boolean {
    return this.#depth > 0 && this.#skip() && this.#source[this.#at] === ':';
  }

  /** Reads a text in quotes and returns it as JSON; undefined if it doesn't end or has `${…}` in it. */
  #text(quote: string): string | undefined {
    const start = this.#at + 1;
    const mark = quote === '`' ? /[`\\$]/g : quote === '"' ? /["\\\n]/g : /['\\\n]/g;
    mark.lastIndex = start;
    let hasEscapes = false;
    for (let found = mark.exec(this.#source); found !== null; found = mark.exec(this.#source)) {
      if (found[0] === quote) {
        this.#at = mark.lastIndex;
        const written = this.#source.slice(start, found.index);
        return JSON.stringify(hasEscapes ? unescaped(written) : written);
      }
      this.#at = found.index;
      if (found[0] !== '\\' && !(found[0] === '$' && this.#source[mark.lastIndex] !== '{')) return undefined;
      hasEscapes ||= found[0] === '\\';
      if (found[0] === '\\') mark.lastIndex++;
    }
    this.#at = this.#source.length;
    return undefined;
  }

  /** Returns the text passed to `JSON.parse`. */
  #parsed(): string | undefined {
    if (this.#match(PARSED) === undefined) return undefined;
    this.#at = firstMatch(this.#source, NOT_BLANK, this.#at);
    const quote = this.#source.charAt(this.#at);
    const text = /["'`]/.test(quote) ? this.#text(quote) : undefined;
    if (text === undefined || !this.#skip() || this.#source[this.#at] !== ')') return undefined;
    this.#at++;
    return String(JSON.parse(text));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function jsonNumber(written: string): string {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(written) ? written : String(Number(written));
}

const ESCAPED = /\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|\r\n|(.))/gs;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '0': '\0' };

const MAX_CODE_POINT = 0x10_ff_ff;

/** Resolves the escapes in a text, as JavaScript does. */
function unescaped(written: string): string {
  return written.replaceAll(ESCAPED, (_, braced?: string, four?: string, two?: string, one?: string) => {
    const digits = braced ?? four ?? two;
    if (digits === undefined) return one === undefined || one === '\n' ? '' : (CONTROLS[one] ?? one);
    const code = Number.parseInt(digits, 16);
    return code > MAX_CODE_POINT ? '\u{fffd}' : String.fromCodePoint(code);
  });
}
