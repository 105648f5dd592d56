import { expect, test } from 'vitest';
import { extensionOf, fileNamesOf } from '../../../../../services/worker/pipeline/file-name.ts';

// biome-ignore format: a table
test.each<[string | undefined, string, string | undefined]>([
  ['application/pdf',          '/a.pdf',                        'pdf'],
  ['application/pdf',          '/get.php?id=1',                 'pdf'],
  ['application/pdf',          '/report',                       'pdf'],
  ['image/jpeg',               '/a.jpeg',                       'jpeg'],
  ['image/jpeg',               '/a',                            'jpg'],
  ['image/png',                '/a.JPG',                        'png'],
  ['application/octet-stream', '/a.ZIP',                        'zip'],
  ['application/octet-stream', '/a.tar.gz',                     'gz'],
  ['text/plain',               '/table.csv',                    'csv'],
  ['text/plain',               '/README',                       'txt'],
  [undefined,                  '/a.epub',                       'epub'],
  [undefined,                  '/a',                            undefined],
  ['application/x-unheard-of', '/a.evil',                       undefined],
  ['application/octet-stream', '/..%2f..%2fetc/passwd',         'bin'],
  [undefined,                  '/a.pdf%00.sh/..%5c',            undefined],
  [undefined,                  '/a.p%2fdf',                     undefined],
  ['../../x',                  '/a.b/c',                        undefined],
])('the extension of a file of type %s at %s is %s', (type, path, extension) => {
  expect(extensionOf(type, fileNamesOf({ disposition: undefined, url: `https://a.test${path}` }))).toBe(extension);
});

// biome-ignore format: a table
test.each<[string | undefined, string, string, string | undefined]>([
  ['application/octet-stream', '/get?id=1',  'attachment; filename="table.xlsx"', 'xlsx'],
  ['application/octet-stream', '/get.php',   'attachment; filename="a.csv"',      'csv'],
  ['application/pdf',          '/a.pdf',     'attachment; filename="a.sh"',       'pdf'],
  ['application/pdf',          '/get',       'attachment; filename="report"',     'pdf'],
  ['application/octet-stream', '/a.zip',     'attachment; filename="x.evil"',     'zip'],
])('the extension of a file of type %s at %s with Content-Disposition %s is %s', (type, path, disposition, extension) => {
  expect(extensionOf(type, fileNamesOf({ disposition, url: `https://a.test${path}` }))).toBe(extension);
});

const LONG = 'ä'.repeat(300);

// biome-ignore format: a table
test.each<[string, string | undefined, string]>([
  ['attachment; filename="a b.pdf"',                                                 'a b.pdf',      '/x'],
  ['inline; FILENAME=a.pdf ; size=1',                                                'a.pdf',        '/x'],
  ['attachment; filename="a\\"b;c.pdf"',                                             'a_b;c.pdf',    '/x'],
  ['attachment; filename=a b.pdf',                                                   'a b.pdf',      '/x'],
  ["attachment; filename*=UTF-8''%e2%82%ac%20rates.pdf; filename=rates.pdf",         '€ rates.pdf',  '/x'],
  ["attachment; filename=rates.pdf; filename*=iso-8859-1''%a3%20rates.pdf",          '£ rates.pdf',  '/x'],
  ["attachment; filename=rates.pdf; filename*=UTF-8''%e2%82.pdf",                    'rates.pdf',    '/x'],
  ["attachment; filename=rates.pdf; filename*=klingon''x.pdf",                       'rates.pdf',    '/x'],
  ['attachment; filename="foo-\xe4.html"',                                           'foo-ä.html',   '/x'],
  ['attachment; filename="foo-\xc3\xa4.html"',                                       'foo-ä.html',   '/x'],
  ['attachment; filename="foo-€.html"',                                              'foo-€.html',   '/x'],
  ['attachment; filename="foo-%41.html"',                                            'foo-%41.html', '/x'],
  ['attachment',                                                                     'a b.pdf',      '/dir/a%20b.pdf'],
  ['attachment; filename=""',                                                        'a.pdf',        '/a.pdf?b=/c'],
  ['attachment; filename=".."',                                                      'a%zz.pdf',     '/a%zz.pdf'],
  ['attachment; filename="..\\\\"',                                                  undefined,      '/dir/'],
  ['attachment; filename="../../etc/passwd"',                                        'passwd',       '/x'],
  ['attachment; filename="C:\\\\dir\\\\a.exe"',                                      'a.exe',        '/x'],
  ["attachment; filename*=UTF-8''..%2f..%5c.bashrc",                                 'bashrc',       '/x'],
  ["attachment; filename*=UTF-8''a%00b%0d%0a%1b%e2%80%aefdp.exe",                    'a_b____fdp.exe', '/x'],
  ['attachment; filename="CON"',                                                     '_CON',         '/x'],
  ['attachment; filename="lpt1.tar.gz. . "',                                         '_lpt1.tar.gz', '/x'],
  ['attachment; filename="console.log"',                                             'console.log',  '/x'],
  ['attachment; filename="a<b>|*?:.txt"',                                            'a_b_____.txt', '/x'],
  [`attachment; filename="${LONG}.pdf"`,                                             `${'ä'.repeat(125)}.pdf`, '/x'],
  [';;;=;"',                                                                         'x',            '/x'],
])('Content-Disposition %j gives the file name %j', (disposition, name, path) => {
  expect(fileNamesOf({ disposition, url: `https://a.test${path}` })[0]).toBe(name);
});

test.each([
  ['dots', '.'.repeat(1_000_000)],
  ['folders', '/'.repeat(1_000_000)],
  ['quotes', '\\"'.repeat(500_000)],
  ['parameters', ';a='.repeat(300_000)],
  ['escapes', '%41'.repeat(300_000)],
])('a name of a million %s takes linear time', (_, text) => {
  const names = fileNamesOf({
    disposition: `attachment; filename="${text}"; filename*=UTF-8''${text}`,
    url: 'https://a.test/x',
  });
  expect(names.every((name) => Buffer.byteLength(name) <= 255)).toBe(true);
});
