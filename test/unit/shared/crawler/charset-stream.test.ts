import { expect, test } from 'vitest';
import { decodeStream } from '../../../../shared/crawler/document/charset.ts';

async function decode(bytes: Uint8Array, contentType?: string, step = bytes.length): Promise<string> {
  async function* source(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
  let text = '';
  for await (const piece of decodeStream(source(), contentType)) text += piece;
  return text.replace(/^\ufeff/, '');
}

const swapped = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?><a>é</a>`;

test.each<[string, Buffer, string | undefined, string]>([
  ['no declared charset', Buffer.from('<a>é</a>'), undefined, '<a>é</a>'],
  ['a charset in its media type', Buffer.from('é', 'latin1'), 'text/plain; charset="ISO-8859-1"', 'é'],
  ['an XML declaration', Buffer.from(declared('iso-8859-1'), 'latin1'), 'text/xml', declared('iso-8859-1')],
  [
    'a media type that contradicts its declaration',
    Buffer.from(declared('latin1')),
    'a/b;charset=utf-8',
    declared('latin1'),
  ],
  ['a byte order mark that contradicts its media type', Buffer.from('\ufeffé'), 'text/plain; charset=latin1', 'é'],
  ['a UTF-16 byte order mark', Buffer.from('\ufeff<a>é</a>', 'utf16le'), undefined, '<a>é</a>'],
  ['a big-endian UTF-16 byte order mark', swapped('\ufeff<a>é</a>'), 'text/xml; charset=utf-8', '<a>é</a>'],
  ['UTF-16 without a byte order mark', Buffer.from('<a>é</a>', 'utf16le'), undefined, '<a>é</a>'],
  ['UTF-16 after white space', Buffer.from('\r\n <a>é</a>', 'utf16le'), undefined, '\r\n <a>é</a>'],
  ['big-endian UTF-16 after white space', swapped('\n<a>é</a>'), 'text/xml; charset=utf-8', '\n<a>é</a>'],
  ['UTF-16 that begins with text', Buffer.from('https://é.test/', 'utf16le'), 'text/plain', 'https://é.test/'],
  ['big-endian UTF-16 that begins with text', swapped('https://é.test/'), undefined, 'https://é.test/'],
  ['UTF-16 as its media type says', Buffer.from('<a>é</a>', 'utf16le'), 'a/b; charset=utf-16', '<a>é</a>'],
  ['UTF-16 only by its media type', Buffer.from('<a>é</a>'), 'text/xml; charset=utf-16', '<a>é</a>'],
  [
    'UTF-16 only by its media type, and a declaration',
    Buffer.from(declared('latin1'), 'latin1'),
    'text/xml; charset=UTF-16LE',
    declared('latin1'),
  ],
  ['an impossible declaration', Buffer.from(declared('utf-16')), undefined, declared('utf-16')],
  ['an unknown charset', Buffer.from('é'), 'text/plain; charset=klingon', 'é'],
  [
    'an unknown charset and a declaration',
    Buffer.from(declared('latin1'), 'latin1'),
    'a/b;charset=klingon',
    declared('latin1'),
  ],
  ['invalid bytes', Buffer.from([0x61, 0xff, 0x62]), undefined, 'a\ufffdb'],
  ['no bytes', Buffer.alloc(0), undefined, ''],
])('a body with %s is decoded, in pieces of any size', async (_, bytes, contentType, text) => {
  for (const step of [1, 3, bytes.length + 1]) expect(await decode(bytes, contentType, step)).toBe(text);
});

test('the first line of a stream is decoded before the next one is read', async () => {
  let given = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    for (; given < 10; given++) yield Buffer.from('https://example.com/\n');
  }
  for await (const text of decodeStream(source())) {
    expect(text).toBe('https://example.com/\n');
    break;
  }
  expect(given).toBe(0);
});
