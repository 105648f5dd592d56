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
  ['no reason phrase, no blank',  head('HTTP/1.1 200', 'ETag:"1"', 'transfer-encoding: chunked')],
  ['no headers',                  head('HTTP/1.0 404 Not Found')],
  ['a control character',         head('HTTP/1.1 200 OK', 'x: a\x01\x00b')],
])('a sound head stays as it is: %s', (_, sound) => {
  expect(repairedHead(sound)).toBe(sound);
});

// biome-ignore format: a table
test.each([
  ['a blank in a name',               [TYPE, 'X Frame Options: DENY'],                                  [TYPE]],
  ['no name',                         [': DENY', TYPE],                                                 [TYPE]],
  ['a name in brackets',              ['[X]: DENY', TYPE],                                              [TYPE]],
  ['a name beyond ASCII',             ['x-\xe9: a', TYPE],                                              [TYPE]],
  ['no colon',                        ['HTTP/1.1 200 OK', TYPE, '<!-- proxied -->'],                    [TYPE]],
  ['a blank before a colon',          ['Content-Type : text/html'],                                     [TYPE]],
  ['a fold',                          ['content-type:', '\t text/html'],                                ['content-type: text/html']],
  ['a fold with no header before it', ['  text/html', TYPE],                                            [TYPE]],
  ['a bare carriage return',          ['x: a\rb', TYPE],                                                ['x: a b', TYPE]],
  ['equal lengths',                   ['Content-Length: 4', TYPE, 'content-length: 4'],                 [TYPE, 'content-length:4']],
  ['equal lengths in one line',       ['Content-Length: 4, 4', TYPE],                                   [TYPE, 'content-length:4']],
  ['lengths that differ',             ['Content-Length: 4', 'Content-Length: 5'],                       ['content-length: 4', 'content-length: 5']],
  ['a length beside chunks',          ['Content-Length: 9', 'Transfer-Encoding: Chunked', TYPE],        [TYPE, 'transfer-encoding:chunked']],
  ['a length beside another coding',  ['Content-Length: 9', 'Transfer-Encoding: deflate'],              ['transfer-encoding:deflate']],
  ['a length beside identity coding', ['Content-Length: 9', 'Transfer-Encoding: identity'],             ['content-length:9']],
  ['identity coding beside chunks',   ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],    ['transfer-encoding:chunked']],
  ['a tab behind a length',           ['Content-Length: 4\t', TYPE],                                    [TYPE, 'content-length:4']],
  ['a length that is no number',      ['Content-Length: abc', TYPE],                                    [TYPE]],
  ['an empty length',                 ['Content-Length:', TYPE],                                        [TYPE]],
  ['an impossible length',            [`Content-Length: ${'9'.repeat(30)}`, TYPE],                      [TYPE]],
  ['an empty transfer coding',        ['Transfer-Encoding: ', 'Content-Length: 4'],                     ['content-length:4']],
])('headers are read as browsers read them: %s', (_, lines, read) => {
  expect(repairedHead(head('HTTP/1.1 200 OK', ...lines))).toBe(head('HTTP/1.1 200 OK', ...read));
});

// biome-ignore format: a table
test.each([
  ['204 No Content',              ['Content-Length: 5', 'Connection: keep-alive', TYPE],            ['content-length:5', 'connection:close']],
  ['304 Not Modified',            ['Transfer-Encoding: chunked'],                                   ['transfer-encoding:chunked', 'connection:close']],
  ['204 No Content',              ['content-length:0', 'connection: keep-alive'],                   ['connection: keep-alive', 'content-length:0']],
  ['304 Not Modified',            ['connection: keep-alive'],                                       ['connection: keep-alive']],
])('a %s that announces a body ends the connection: %j', (status, lines, read) => {
  const repaired = repairedHead(head(`HTTP/1.1 ${status}`, ...lines));
  expect(repaired.split('\r\n').filter((line) => line !== TYPE)).toEqual(head(`HTTP/1.1 ${status}`, ...read).split('\r\n'));
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
])('the status line %j is read as %j', (line, read) => {
  expect(repairedHead(head(line, TYPE))).toBe(head(read, TYPE));
});

test('lines may end with a line feed alone, or with several carriage returns', () => {
  expect(repairedHead(`HTTP/1.1 200 OK\n${TYPE}\n\n`)).toBe(head('HTTP/1.1 200 OK', TYPE));
  expect(repairedHead(`HTTP/1.1 200 OK\r\r\n${TYPE}\r\r\n\r\r\n`)).toBe(head('HTTP/1.1 200 OK', TYPE));
});
