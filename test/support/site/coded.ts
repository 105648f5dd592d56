import zlib from 'node:zlib';
import { pageHtml } from './content.ts';
import { numberIn, type Route, send, type Visit } from './route.ts';

type Encode = (plain: string | Uint8Array) => Buffer;

/** Encoders by their names in a Content-Encoding. */
const CODINGS: Readonly<Record<string, Encode>> = {
  gzip: (plain) => zlib.gzipSync(plain),
  deflate: (plain) => zlib.deflateSync(plain),
  br: (plain) => zlib.brotliCompressSync(plain),
  zstd: (plain) => zlib.zstdCompressSync(plain),
};

/**
 * Bodies with a Content-Encoding.
 *
 * | path                                       | answer                                                    |
 * |--------------------------------------------|-----------------------------------------------------------|
 * | `/gzip` `/deflate` `/br` `/zstd`           | page 1 in that coding                                     |
 * | `/raw-deflate`                             | page 1, as `deflate` without its zlib wrapper             |
 * | `/twice-gzip`                              | page 1, as `gzip, gzip`                                   |
 * | `/bad-gzip` (`-deflate` `-br` `-zstd`)     | a body that is not what its Content-Encoding says         |
 * | `/cut-gzip` (…)                            | one that ends too soon, though its Content-Length is right |
 * | `/empty-gzip` (…)                          | one of no bytes                                           |
 * | `/bomb?mb=&coding=`                        | zeros, default 30 MB as `gzip`                            |
 * | `/coded-as?name=`                          | page 1 uncoded, under any name                            |
 */
export const CODED: readonly Route[] = [
  [/^\/(gzip|deflate|br|zstd)$/, (visit) => sendCoded(visit, codingOf(visit), encode(visit))],
  [/^\/raw-deflate$/, (visit) => sendCoded(visit, 'deflate', zlib.deflateRawSync(page1(visit)))],
  [/^\/twice-gzip$/, (visit) => sendCoded(visit, 'gzip, gzip', zlib.gzipSync(zlib.gzipSync(page1(visit))))],
  [/^\/bad-(gzip|deflate|br|zstd)$/, (visit) => sendCoded(visit, codingOf(visit), Buffer.from('not at all that'))],
  [/^\/cut-(gzip|deflate|br|zstd)$/, (visit) => sendCoded(visit, codingOf(visit), encode(visit).subarray(0, -20))],
  [/^\/empty-(gzip|deflate|br|zstd)$/, (visit) => sendCoded(visit, codingOf(visit), Buffer.alloc(0))],
  [/^\/bomb$/, sendBomb],
  [/^\/coded-as$/, (visit) => sendCoded(visit, visit.url.searchParams.get('name') ?? '', Buffer.from(page1(visit)))],
];

const bombs = new Map<string, Buffer>();

function sendBomb(visit: Visit): void {
  const coding = visit.url.searchParams.get('coding') ?? 'gzip';
  const mb = numberIn(visit.url, 'mb', 30);
  const key = `${coding} ${mb}`;
  const bomb = bombs.get(key) ?? encodeAs(coding, Buffer.alloc(mb * 1_000_000));
  bombs.set(key, bomb);
  sendCoded(visit, coding, bomb);
}

function sendCoded({ response }: Visit, coding: string, body: Buffer): void {
  send(response, 'text/html; charset=utf-8', body, { 'content-encoding': coding });
}

function encode(visit: Visit): Buffer {
  return encodeAs(codingOf(visit), page1(visit));
}

function encodeAs(coding: string, plain: string | Uint8Array): Buffer {
  const encodeBody = CODINGS[coding];
  if (encodeBody === undefined) throw new Error(`The test site knows no coding ${coding}`);
  return encodeBody(plain);
}

function codingOf({ args: [coding = ''] }: Visit): string {
  return coding;
}

function page1({ site }: Visit): string {
  return pageHtml(site, 1);
}
