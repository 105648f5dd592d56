import { expect, test } from 'vitest';
import { repairedHead } from '../../../../shared/fetchers/repaired-head.ts';

const TYPE = 'content-type: text/html';

/** A head of these lines. */
function head(...lines: readonly string[]): string {
  return [...lines, '', ''].join('\r\n');
}

// biome-ignore format: a table
test.each([
  ['an ordinary one',             head('HTTP/1.1 200 OK', 'Content-Type: text/html', 'Content-Length: 4', 'Set-Cookie: a=1; Path=/')],
  ['no reason, no blank',         head('HTTP/1.1 200', 'ETag:"1"', 'transfer-encoding: chunked')],
  ['no headers',                  head('HTTP/1.0 404 Not Found')],
  ['a control character',         head('HTTP/1.1 200 OK', 'x: a\x01\x00b')],
])('a sound head stays as it is: %s', (_, sound) => {
  expect(repairedHead(sound)).toBe(sound);
});

// biome-ignore format: a table
test.each([
  ['a blank in a name',           [TYPE, 'X Frame Options: DENY'],                                  [TYPE]],
  ['no name',                     [': DENY', TYPE],                                                 [TYPE]],
  ['a name in brackets',          ['[X]: DENY', TYPE],                                              [TYPE]],
  ['a name beyond ASCII',         ['x-\xe9: a', TYPE],                                              [TYPE]],
  ['no colon',                    ['HTTP/1.1 200 OK', TYPE, '<!-- proxied -->'],                    [TYPE]],
  ['a blank before a colon',      ['Content-Type : text/html'],                                     [TYPE]],
  ['a fold',                      ['content-type:', '\t text/html'],                                ['content-type: text/html']],
  ['a fold of nothing',           ['  text/html', TYPE],                                            [TYPE]],
  ['a bare carriage return',      ['x: a\rb', TYPE],                                                ['x: a b', TYPE]],
  ['equal lengths',               ['Content-Length: 4', TYPE, 'content-length: 4'],                 [TYPE, 'content-length:4']],
  ['equal lengths in one line',   ['Content-Length: 4, 4', TYPE],                                   [TYPE, 'content-length:4']],
  ['lengths that differ',         ['Content-Length: 4', 'Content-Length: 5'],                       ['content-length: 4', 'content-length: 5']],
  ['a length beside chunks',      ['Content-Length: 9', 'Transfer-Encoding: Chunked', TYPE],        ['transfer-encoding: Chunked', TYPE]],
  ['one beside other codings',    ['Content-Length: 9', 'Transfer-Encoding: identity'],             ['transfer-encoding: identity', 'content-length:9']],
  ['a length that is none',       ['Content-Length: abc', TYPE],                                    [TYPE]],
  ['an empty length',             ['Content-Length:', TYPE],                                        [TYPE]],
  ['one that no body has',        [`Content-Length: ${'9'.repeat(30)}`, TYPE],                      [TYPE]],
  ['an empty transfer coding',    ['Transfer-Encoding: ', 'Content-Length: 4'],                     ['content-length:4']],
])('its headers are read as browsers read them: %s', (_, lines, read) => {
  expect(repairedHead(head('HTTP/1.1 200 OK', ...lines))).toBe(head('HTTP/1.1 200 OK', ...read));
});

// biome-ignore format: a table
test.each([
  ['http/1.1 200 OK',             'HTTP/1.1 200 OK'],
  ['HTTP/2 200',                  'HTTP/1.1 200 '],
  ['HTTP/1.2 200 OK',             'HTTP/1.1 200 OK'],
  ['HTTP/1 200 OK',               'HTTP/1.0 200 OK'],
  ['HTTP/1.1  200  OK',           'HTTP/1.1 200 OK'],
  ['HTTP/1.1\t200\tOK',           'HTTP/1.1 200 OK'],
  ['HTTP/1.1 200OK',              'HTTP/1.1 200 OK'],
  ['HTTP/1.1 403.14 Forbidden',   'HTTP/1.1 403 .14 Forbidden'],
  ['HTTP/1.1 0404 Not Found',     'HTTP/1.1 404 Not Found'],
  ['HTTP/1.1 20 OK',              'HTTP/1.1 20 OK'],
  ['HTTP/1.1 2000 OK',            'HTTP/1.1 2000 OK'],
  ['HTTP/1.1 OK',                 'HTTP/1.1 OK'],
])('%j is read as %j', (line, read) => {
  expect(repairedHead(head(line, TYPE))).toBe(head(read, TYPE));
});

test('lines may end with a line feed alone, or with several carriage returns', () => {
  expect(repairedHead(`HTTP/1.1 200 OK\n${TYPE}\n\n`)).toBe(head('HTTP/1.1 200 OK', TYPE));
  expect(repairedHead(`HTTP/1.1 200 OK\r\r\n${TYPE}\r\r\n\r\r\n`)).toBe(head('HTTP/1.1 200 OK', TYPE));
});
