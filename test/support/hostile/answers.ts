import type { IncomingMessage, ServerResponse } from 'node:http';
import zlib from 'node:zlib';
import { generatePage } from '../pages/page-generator.ts';
import { SeededRandom } from '../seeded-random.ts';
import { amount, HOSTILE_MARKUP } from './markup.ts';

/** A hostile page as a server sends it. */
export interface HostileAnswer {
  /** What is wrong with it. */
  readonly kind: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array;
  /** The whole answer, if Node.js itself would not send it. */
  readonly raw?: string;
}

type Made = Partial<Omit<HostileAnswer, 'kind' | 'body'>> & { readonly body?: Uint8Array | string };
type Make = (random: SeededRandom) => Made;

const HTML = 'text/html; charset=utf-8';

/** An ordinary page. */
function page(random: SeededRandom): string {
  return generatePage(random.below(2 ** 31));
}

function bytes(random: SeededRandom, length: number): Uint8Array {
  let state = random.below(2 ** 31);
  return new Uint8Array(length).map(() => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 16;
  });
}

const LABELS =
  `utf-16 utf-16be utf-7 gbk gb18030 big5 shift_jis euc-jp euc-kr iso-2022-jp iso-2022-kr hz-gb-2312 x-user-defined
  replacement koi8-r macintosh windows-1255 utf-32 klingon constructor __proto__ toString "utf-8 'gbk' ;;; =`.split(
    /\s+/,
  );

const CHARSETS: readonly Make[] = [
  (random) => ({ headers: { 'content-type': `text/html; charset=${random.pick(LABELS)}` }, body: page(random) }),
  (random) => ({
    headers: { 'content-type': `text/html; charset=${random.pick(LABELS)}` },
    body: bytes(random, amount(random)),
  }),
  (random) => ({ headers: { 'content-type': 'text/html' }, body: bytes(random, amount(random)) }),
  (random) => ({
    headers: { 'content-type': 'text/html' },
    body: `<meta charset="${random.pick(LABELS)}">${page(random)}`,
  }),
  (random) => ({
    headers: { 'content-type': 'text/html' },
    body: Buffer.concat([
      Buffer.from(random.pick(['fffe', 'feff', 'efbbbf', 'fffe0000']), 'hex'),
      Buffer.from(page(random)),
    ]),
  }),
  (random) => ({
    headers: { 'content-type': `text/html; ${'charset='.repeat(500)}${'x'.repeat(2_000)}` },
    body: page(random),
  }),
  (random) => ({
    headers: { 'content-type': 'text/html; charset=iso-2022-jp' },
    body: '\u001b$B\u001b(B'.repeat(amount(random) / 6),
  }),
  (random) => ({
    headers: { 'content-type': 'text/html' },
    body: `<meta ${'a="b" '.repeat(160)}${'<meta '.repeat(1_000)}${page(random)}`,
  }),
];

const CODERS: Readonly<Record<string, (plain: Uint8Array) => Uint8Array>> = {
  gzip: (plain) => zlib.gzipSync(plain),
  deflate: (plain) => zlib.deflateSync(plain),
  br: (plain) => zlib.brotliCompressSync(plain, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (plain) => zlib.zstdCompressSync(plain),
};

function coded(coding: string, plain: string | Uint8Array): Uint8Array {
  return CODERS[coding]?.(Buffer.from(plain)) ?? Buffer.from(plain);
}

const CODINGS: readonly Make[] = [
  (random) => {
    const coding = random.pick(Object.keys(CODERS));
    return {
      headers: { 'content-type': HTML, 'content-encoding': coding },
      body: coded(coding, Buffer.alloc(30_000_000)),
    };
  },
  (random) => {
    const coding = random.pick(Object.keys(CODERS));
    const markup = random.pick(random.pick(Object.values(HOSTILE_MARKUP)))(random);
    return { headers: { 'content-type': HTML, 'content-encoding': coding }, body: coded(coding, markup) };
  },
  (random) => {
    const [inner, outer] = [random.pick(Object.keys(CODERS)), random.pick(Object.keys(CODERS))];
    return {
      headers: { 'content-type': HTML, 'content-encoding': `${inner}, ${outer}` },
      body: coded(outer, coded(inner, page(random))),
    };
  },
  (random) => ({
    headers: { 'content-type': HTML, 'content-encoding': random.pick(Object.keys(CODERS)) },
    body: page(random),
  }),
  (random) => {
    const coding = random.pick(Object.keys(CODERS));
    return {
      headers: { 'content-type': HTML, 'content-encoding': coding },
      body: coded(coding, page(random)).subarray(0, -20),
    };
  },
  (random) => ({
    headers: {
      'content-type': HTML,
      'content-encoding': random.pick([
        'rot13',
        'compress',
        'utf-8',
        'gzip;q=1',
        ', ,',
        'gzip, gzip, gzip, gzip',
        'x'.repeat(5_000),
      ]),
    },
    body: page(random),
  }),
];

const ODD_HEADERS: readonly Make[] = [
  (random) => ({
    headers: {
      'content-type': random.pick([
        'text/html;'.repeat(500),
        'TEXT/HTML',
        'text/html, text/plain',
        '/',
        'html',
        ' text/html ',
        'text/html\t;charset',
      ]),
    },
    body: page(random),
  }),
  (random) => ({
    headers: { 'content-type': HTML, 'set-cookie': Array.from({ length: 200 }, (_, n) => `c${n}=${'v'.repeat(40)}`) },
    body: page(random),
  }),
  (random) => ({
    headers: {
      'content-type': HTML,
      etag: `"${'e'.repeat(8_000)}"`,
      'last-modified': random.pick(['yesterday', 'x'.repeat(3_000), '0']),
    },
    body: page(random),
  }),
  (random) => ({
    headers: {
      'content-type': HTML,
      'x-robots-tag': random.pick(['a:,'.repeat(3_000), 'nofollow,'.repeat(1_000), ':'.repeat(9_000)]),
    },
    body: page(random),
  }),
  (random) => ({
    headers: {
      'content-type': HTML,
      location: random.pick(['/x', 'http://[', 'x'.repeat(9_000)]),
      'retry-after': random.pick(['-1', '1e999', 'soon', '99999999999']),
    },
    body: page(random),
  }),
  (random) => ({
    headers: {
      'content-type': HTML,
      'cache-control': 'max-age='.repeat(1_000),
      date: 'never',
      age: '-1',
      expires: '0',
    },
    body: page(random),
  }),
  (random) => ({
    headers: { 'content-type': HTML, 'x-large': 'x'.repeat(random.pick([10_000, 40_000])) },
    body: page(random),
  }),
  (random) => ({
    status: random.pick([201, 203, 206, 226, 299]),
    headers: { 'content-type': HTML },
    body: page(random),
  }),
  (random) => ({
    headers: {
      'content-type': random.pick(['application/json', 'text/plain', 'application/xml', 'application/xhtml+xml']),
    },
    body: random.pick(HOSTILE_MARKUP.texts ?? [])(random),
  }),
];

const WIRE: readonly Make[] = [
  (random) => ({ raw: `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\n${page(random)}` }),
  (random) => ({ raw: `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9999999\r\n\r\n${page(random)}` }),
  (random) => ({
    raw: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;${'x=y;'.repeat(2_000)}\r\n<a hr\r\nzz\r\n${page(random)}`,
  }),
  () => ({ raw: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(200_000)}0\r\n\r\n` }),
  (random) => ({ raw: `HTTP/1.1 200 ${'\x80'.repeat(500)}\r\ncontent-type: text/html\x00\r\n\r\n${page(random)}` }),
  (random) => ({ raw: `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(3_000)}\r\n${page(random)}` }),
  (random) => ({ raw: `HTTP/0.9 hello\r\n\r\n${page(random)}` }),
  (random) => ({
    raw: `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-type: text/plain; charset=gbk\r\nconnection: close\r\n\r\n${page(random)}`,
  }),
];

/**
 * A gzip stream of empty blocks, packed as brotli: many megabytes between the two codings, and an empty body. Random bytes in
 * its gzip header keep the body above the size up to which it is decoded at once.
 */
function emptyBlocks(random: SeededRandom, megabytes: number): Uint8Array {
  const extra = bytes(random, 65_535);
  const head = Buffer.concat([Buffer.from('1f8b0804000000000003ffff', 'hex'), extra]);
  const blocks = Buffer.alloc(megabytes * 1_000_000, Buffer.from('000000ffff', 'hex'));
  return coded('br', Buffer.concat([head, blocks, Buffer.from('0300', 'hex'), Buffer.alloc(8)]));
}

/** The kinds of pages, with their weights. */
const KINDS: readonly (readonly [kind: string, weight: number, make: Make])[] = [
  ...Object.entries(HOSTILE_MARKUP).map(
    ([kind, markups]) =>
      [
        kind,
        10,
        (random: SeededRandom) => ({ headers: { 'content-type': HTML }, body: random.pick(markups)(random) }),
      ] as const,
  ),
  ['charsets', 10, (random) => random.pick(CHARSETS)(random)],
  ['codings', 10, (random) => random.pick(CODINGS)(random)],
  ['headers', 8, (random) => random.pick(ODD_HEADERS)(random)],
  ['wire', 6, (random) => random.pick(WIRE)(random)],
  [
    'line separators',
    2,
    (random) => ({
      headers: { 'content-type': HTML },
      body: `<title>a\u2028b\u2029c</title>${'\u2028'.repeat(random.below(1_000))}`,
    }),
  ],
  [
    'empty blocks',
    2,
    (random) => ({
      headers: { 'content-type': HTML, 'content-encoding': 'gzip, br' },
      body: emptyBlocks(random, random.pick([1, 50])),
    }),
  ],
  [
    'codings of the language',
    2,
    (random) => ({
      headers: { 'content-type': HTML, 'content-encoding': random.pick(['constructor', '__proto__', 'toString']) },
      body: page(random),
    }),
  ],
];

/** Hostile page `n` of a seed. */
export function hostileAnswer(seed: number, n: number): HostileAnswer {
  const [kind, , make] = kindOf(seed, n);
  const { status = 200, headers = {}, body = '', raw } = make(new SeededRandom(seed * 100_003 + n));
  const answer = { kind, status, headers, body: typeof body === 'string' ? Buffer.from(body) : body };
  return raw === undefined ? answer : { ...answer, raw };
}

function kindOf(seed: number, n: number): (typeof KINDS)[number] {
  const total = KINDS.reduce((sum, [, weight]) => sum + weight, 0);
  let left = new SeededRandom(seed * 99_991 + n).below(total);
  for (const kind of KINDS) {
    left -= kind[1];
    if (left < 0) return kind;
  }
  throw new Error('the weights come to more than their sum');
}

/** Answers a request with a hostile page. */
export function answerHostile(answer: HostileAnswer, request: IncomingMessage, response: ServerResponse): void {
  if (answer.raw === undefined) response.writeHead(answer.status, { ...answer.headers }).end(answer.body);
  else request.socket.end(answer.raw, 'latin1');
}
