import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UrlLines } from '../../../../../shared/task/url/urls-file.ts';

function read(text: string, step = text.length): string[] {
  const list = new UrlLines();
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += step) lines.push(...list.write(text.slice(at, at + step)));
  return [...lines, ...list.end()];
}

const LIST = '\ufeffhttps://example.com/a\r\n\r\n# comment\n   https://example.com/b \t\rno url\n#\nlast';

test('blank lines, comments, white space and a byte order mark are skipped', () => {
  expect(read(LIST)).toEqual(['https://example.com/a', 'https://example.com/b', 'no url', 'last']);
});

test.each([1, 2, 3, 10])('a list reads the same in pieces of %i characters', (step) => {
  expect(read(LIST, step)).toEqual(read(LIST));
});

test('a line that is too long for a URL is cut but stays too long, and no other line is lost', () => {
  const text = `a\n${'x'.repeat(100_000)}\nb`;
  for (const step of [1_000, text.length]) {
    const [first, long = '', last] = read(text, step);
    expect([first, long.length, last]).toEqual(['a', 8_193, 'b']);
  }
});

test('white space before a URL can be of any length', () => {
  expect(read(`${' '.repeat(50_000)}https://example.com/a\n`, 1_000)).toEqual(['https://example.com/a']);
});

test('a list is divided by line feeds and carriage returns, but by no other line end of Unicode', () => {
  const odd = 'https://example.com/a\u2028b\u2029c\u0085d\u000be\u000cf';
  expect(read(`${odd}\r\nhttps://example.com/1\rhttps://example.com/2\n\r`)).toEqual([
    odd,
    'https://example.com/1',
    'https://example.com/2',
  ]);
});

const COLUMN = ['https://a.test/1,2', 'https://a.test/3'];

// biome-ignore format: a table
test.each<[string, string, readonly string[]]>([
  ['a single column',             'URL\nhttps://a.test/1,2\nhttps://a.test/3',                              COLUMN],
  ['commas',                      '\ufeff"url",title\r\n"https://a.test/1,2","a ""b"", c"\r\nhttps://a.test/3,\r\n', COLUMN],
  ['semicolons and a comment',    '# mine\nPage URL;n\nhttps://a.test/1,2;5\nhttps://a.test/3;6',           COLUMN],
  ['tabs',                        'url\tn\nhttps://a.test/1,2\t5\n\t7\nhttps://a.test/3\t',                COLUMN],
  ['a list of URLs with commas',  COLUMN.join('\n'),                                                       COLUMN],
  ['another column',              'id,"Page URL", owner\n1,"https://a.test/1,2",Ann\n2\n3, https://a.test/3 ,"a,\nb"', COLUMN],
  ['several columns of URLs',     'image_url;url;old url\nx;https://a.test/1,2;y\n;https://a.test/3',       COLUMN],
])('the column whose header says url is read, and a plain list stays a list: %s', (_, text, urls) => {
  for (const step of [1, 5, text.length]) expect(read(text, step)).toEqual(urls);
});

// biome-ignore format: a table
test.each<[string, string, readonly string[]]>([
  ['has line ends',             'url,text\r\nhttps://a.test/1,"a\r\n\r\n# b\r\nhttps://b.test/,""c"""\r\nhttps://a.test/2,', ['1', '2']],
  ['ends in another column',    'url;n;text\nhttps://a.test/1;5;"a\nb" ; "c;\nd"\n"https://a.test/2;""";6;x"y', ['1', '2;"']],
  ['is empty at its end',       'url\ttext\nhttps://a.test/1\t"\n"\thttps://b.test/\nhttps://a.test/2\t""',  ['1', '2']],
  ['lacks its last quote',      'url,n,text\nhttps://a.test/1,5" pipe,"a\nhttps://a.test/2,6,b\n\n# c',        ['1', '2']],
  ['is followed by a quote',    'url,text\nhttps://a.test/1,"a\nhttps://a.test/2,"b"\nhttps://a.test/3,"c\nd"', ['1', '2', '3']],
  ['is very long',              `url,text\nhttps://a.test/1,"${'a\n'.repeat(5)}${'b'.repeat(90_000)}"\nhttps://a.test/2,c`, ['1', '2']],
])('every row gives its URL, even if a quoted cell %s', (_, text, paths) => {
  for (const step of [1, 7, 1_000, text.length])
    expect(read(text, step)).toEqual(paths.map((path) => `https://a.test/${path}`));
});

test('a quoted cell that is never closed loses no URL', () => {
  const urls = Array.from({ length: 60_000 }, (_, n) => `https://a.test/${n}`);
  expect(read(`url,text\n${urls[0]},"${urls.map((url) => `\n${url},`).join('')}`, 65_536)).toEqual([urls[0], ...urls]);
});

test.each([
  ['', 1_100_000],
  ['a', 600_000],
])('a quoted cell that is never closed is given up after a million characters, in lines of %j', (line, count) => {
  const list = new UrlLines();
  const read = list.write(`url,text\nhttps://a.test/1,"${`\n${line}`.repeat(count)}`);
  expect(read.slice(0, 1)).toEqual(['https://a.test/1']);
});

test('a table of any cells has a URL for each of its rows', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', '\n', '\r', ',', ';', ' ', '#', 'é'), maxLength: 8 });
  const rows = fc.array(fc.tuple(fc.nat(), cell, cell), { maxLength: 5 });
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom(',', ';', '\t'),
      fc.integer({ min: 1, max: 40 }),
      fc.nat(2),
      (all, separator, step, at) => {
        const written = (text: string): string =>
          /[",;\r\n\t#]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        const lines = all.map(([n, ...cells]) => cells.map(written).toSpliced(at, 0, `https://a.test/${n}`));
        const text = [['a', 'b'].toSpliced(at, 0, 'url'), ...lines].map((cells) => cells.join(separator)).join('\r\n');
        expect(read(text, step)).toEqual(all.map(([n]) => `https://a.test/${n}`));
      },
    ),
  );
});

test.each([
  'id,address\n1,https://a.test/1',
  'title;link\na;https://a.test/1',
  'https://a.test/1\tA title\nhttps://a.test/2\tAnother',
  'https://a.test/1,A title',
  '"https://a.test/1","A title"',
  'https://a.test/1, https://a.test/2',
])('nothing is read from a table without a url column: %j', (text) => {
  const list = new UrlLines();
  expect([...list.write(text), ...list.end()]).toEqual([]);
  expect(list.isTable).toBe(true);
});
