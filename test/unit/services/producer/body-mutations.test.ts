import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { test } from 'vitest';
import { BodyError } from '../../../../services/producer/documents/body-error.ts';
import { unpacked } from '../../../../services/producer/documents/unpacking.ts';
import { decodeStream } from '../../../../shared/crawler/document/charset.ts';
import { SitemapParser } from '../../../../shared/task/sitemap/sitemap.ts';
import { pages, urlset } from './documents.ts';

const plain = Buffer.from(urlset(pages(50, 'https://example.com/é-')));
const BODIES = [
  plain,
  gzipSync(plain),
  gzipSync(gzipSync(plain)),
  Buffer.concat([gzipSync(plain), gzipSync(plain)]),
  Buffer.from(`\ufeff${plain.toString()}`, 'utf16le'),
];

/** A body with some bytes changed or missing at the end, in pieces of some size. */
const mutated = fc
  .tuple(
    fc.constantFrom(...BODIES),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }),
    fc.option(fc.nat()),
    fc.integer({ min: 1, max: 5_000 }),
  )
  .map(([body, changes, end, step]) => {
    const bytes = Buffer.from(end === null ? body : body.subarray(0, end % (body.length + 1)));
    for (const [where, value] of changes) if (bytes.length > 0) bytes[where % bytes.length] = value;
    return { bytes, step };
  });

test('damaged bytes of a sitemap cause no error other than a BodyError', async () => {
  await fc.assert(
    fc.asyncProperty(mutated, async ({ bytes, step }) => {
      async function* source(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
      }
      const parser = new SitemapParser();
      try {
        for await (const text of decodeStream(unpacked(source(), 1_000_000))) parser.write(text);
      } catch (error: unknown) {
        if (!(error instanceof BodyError)) throw error;
      }
      parser.end();
    }),
    { numRuns: 300 },
  );
});
