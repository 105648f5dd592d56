import { expect, test } from 'vitest';
import { extensionOf } from '../../../../../services/worker/pipeline/file-name.ts';

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
])('the ending of a file of type %s at %s is %s', (type, path, extension) => {
  expect(extensionOf(type, `https://a.test${path}`)).toBe(extension);
});
