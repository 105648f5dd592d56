import { firstMatch } from '../../../task/first-match.ts';

/** What a script has at a place. */
export interface Literal {
  /** The value as JSON, if it is one that is written out; whether it is JSON is for its parser to say. */
  readonly json: string | undefined;
  /** Where reading has ended. */
  readonly end: number;
}

/** What ends white space, on a line. */
const NOT_BLANK = /\S/g;
const NOT_BLANK_ON_LINE = /[^ \t]/g;
/** What may follow a value that it is only a part of, as in `{} || a`, `'a' + b`, `[a].map(…)`. */
const GOES_ON = /[-+*%.?&|[(<>=]/y;
/** So many parts of a value are joined: the parts of megabytes take a lot of memory. */
const MOST_PARTS = 8_192;
/** None has more digits: V8's stack ends within megabytes of them. */
const NUMBER =
  /[-+]?(?:0[xX][\da-fA-F]{1,1000}|(?:\d{1,1000}\.?\d{0,1000}|\.\d{1,1000})(?:[eE][-+]?\d{1,1000})?)(?![\da-fA-F])/y;
const NAME_BEGINS = /[\p{ID_Start}$_]/uy;
const NOT_IN_NAME = /[^\p{ID_Continue}$]/gu;
/** Texts that are written without quotes, by what they are in JSON. */
const WORDS: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  null: 'null',
  undefined: 'null',
  NaN: 'null',
  Infinity: 'null',
};
/** As scripts are written when they were made smaller. */
const SHORT = /!([01])|void 0/y;
const PARSED = /\.parse\(/y;

/**
 * Reads an object, a list, a text or a number that a script has written out: JSON, and what JavaScript has besides, such as names without
 * quotes, single quotes, commas after the last item, comments, `!0`, `undefined` (as null), and `JSON.parse('…')`. Where anything else
 * stands, such as a call or a function, it ends without a value. Takes time in proportion to what it reads, and runs nothing.
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

  /** Goes to the next token; false if there is none. */
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

  /** Reads one token; false if it belongs to no value. */
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

  /** Does a colon follow? */
  #isKey(): boolean {
    return this.#depth > 0 && this.#skip() && this.#source[this.#at] === ':';
  }

  /** A text in quotes, as JSON. */
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

  /** The text that `JSON.parse` is given. */
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

/** A text as JavaScript reads it. */
function unescaped(written: string): string {
  return written.replaceAll(ESCAPED, (_, braced?: string, four?: string, two?: string, one?: string) => {
    const digits = braced ?? four ?? two;
    if (digits === undefined) return one === undefined || one === '\n' ? '' : (CONTROLS[one] ?? one);
    const code = Number.parseInt(digits, 16);
    return code > MAX_CODE_POINT ? '\u{fffd}' : String.fromCodePoint(code);
  });
}
