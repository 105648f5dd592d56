import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSeeds } from '../../../../services/producer/seeds.ts';
import { UsageError } from '../../../../shared/runtime/errors.ts';
import { folder } from './documents.ts';

test.each<[string, string]>([
  ['https://example.com/', 'site'],
  ['https://example.com', 'site'],
  ['https://example.com/#top', 'site'],
  ['https://example.com/?p=1', 'page'],
  ['https://example.com/about', 'page'],
  ['https://example.com/feedback', 'page'],
  ['https://example.com/automatic', 'page'],
  ['https://example.com/file.xml.html', 'page'],
  ['https://example.com/page?from=sitemap.xml', 'page'],
  ['https://example.com/robots.txt', 'robots'],
  ['https://example.com/robots.txt?v=1', 'maybe_sitemap'],
  ['https://example.com/shop/robots.txt', 'maybe_sitemap'],
  ['https://example.com/data.xml', 'maybe_sitemap'],
  ['https://example.com/s.xml.gz?v=1', 'maybe_sitemap'],
  ['https://example.com/urls.TXT', 'maybe_sitemap'],
  ['https://example.com/sitemap_index', 'maybe_sitemap'],
  ['https://example.com/wp-sitemap/1', 'maybe_sitemap'],
  ['https://example.com/feed/', 'maybe_sitemap'],
  ['https://example.com/blog/rss2', 'maybe_sitemap'],
  ['https://example.com/atom', 'maybe_sitemap'],
  ['https://example.com/index.php?route=extension/feed/google_sitemap', 'maybe_sitemap'],
  ['https://example.com/?feed=rss2', 'maybe_sitemap'],
  ['https://example.com/?sitemap=index', 'maybe_sitemap'],
  ['https://example.com/?from=feed', 'page'],
])('the seed %s is a %s', async (text, kind) => {
  expect(await readSeeds([text])).toEqual([{ kind, url: new URL(text).href.replace(/#.*/, '') }]);
});

test('a table without a URL column is refused as a seed; one with a URL column and a sitemap are accepted', async () => {
  const write = (name: string, text: string) => {
    const path = join(folder(), name);
    writeFileSync(path, text);
    return path;
  };
  const table = write('t.csv', 'id,link\n1,https://example.com/1\n');
  const said = `${table} looks like a table, not a list of URLs: name its URL column url in the header line, or give only the URLs, one per line`;
  await expect(readSeeds([table])).rejects.toEqual(new UsageError(said));
  await expect(readSeeds([], [table])).rejects.toEqual(new UsageError(said));
  const others = [write('u.csv', 'id,url\n1,https://example.com/1\n'), write('s.xml', '<urlset a="1, 2"/>')];
  expect((await readSeeds(others)).map(({ kind }) => kind)).toEqual(['file', 'file']);
});

test('a pipe as a seed is not read in advance, so nothing in it is lost', async () => {
  const path = join(folder(), 'pipe');
  execFileSync('mkfifo', [path]);
  // Opened for both, it waits neither for a writer nor for a reader.
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(pipe));
  const list = 'https://example.com/1\nhttps://example.com/2\n';
  writeSync(pipe, list);
  expect(await readSeeds([path], [path])).toEqual([
    { kind: 'file', path },
    { kind: 'list', path },
  ]);
  const left = Buffer.alloc(100);
  expect(left.toString('utf8', 0, readSync(pipe, left))).toBe(list);
});

test('a dash is read as standard input, an existing file as a file, and a file of URLs as a list', async () => {
  const path = join(folder(), 'example.com');
  writeFileSync(path, '');
  expect(await readSeeds(['-', path], [path])).toEqual([
    { kind: 'input' },
    { kind: 'file', path },
    { kind: 'list', path },
  ]);
});

test.each<[string, string]>([
  ['example.com', 'example.com is not a file, and has no scheme: did you mean https://example.com/'],
  [
    'example.com:8080/x',
    'example.com:8080/x is not a file, and has no scheme: did you mean https://example.com:8080/x',
  ],
  ['/nowhere/urls.txt', "/nowhere/urls.txt doesn't exist"],
  ['../nowhere/urls.txt', "../nowhere/urls.txt doesn't exist"],
  ['urls.txt', "urls.txt doesn't exist, and a URL begins with https:// or http://"],
  ['data/urls.csv', "data/urls.csv doesn't exist, and a URL begins with https:// or http://"],
  [
    'shop.ts',
    "shop.ts doesn't exist, and a URL begins with https:// or http:// (a crawler is given with --crawler shop.ts)",
  ],
  ['shop', "shop doesn't exist, and a URL begins with https:// or http:// (a crawler is given with --crawler shop)"],
  ['a.example/map.xml', 'a.example/map.xml is not a file, and has no scheme: did you mean https://a.example/map.xml'],
  ['localhost/x', 'localhost/x is not a file, and has no scheme: did you mean https://localhost/x'],
  ['https//a.example/', 'https//a.example/ is not a file, and lacks "://": did you mean https://a.example/'],
  ['http:/a.example/', 'http:/a.example/ is not a file, and lacks "://": did you mean http://a.example/'],
  ['https:/u:secret@a.example/', 'https:/a.example/ is not a file, and lacks "://": did you mean https://a.example/'],
  ['ftp://example.com/', "ftp://example.com/ can't be crawled: its scheme is ftp, not http or https"],
  ['https://', "https:// can't be crawled: it is not a valid URL"],
  ['docs', 'docs is a folder, not a file (a crawler is given with --crawler docs)'],
  ['a b', '"a b" is neither a URL nor a file'],
  ['', '"" is neither a URL nor a file'],
])('the seed %j is refused as a usage error', async (text, message) => {
  await expect(readSeeds([text])).rejects.toThrow(new UsageError(message));
});

test('the file of a crawler is refused as a seed, with the flag that takes it', async () => {
  const path = join(folder(), 'shop.ts');
  writeFileSync(path, "import { defineCrawler } from 'trawl';\n");
  const message = `${path} is a program, not a list of URLs: a crawler is given with --crawler ${path}`;
  await expect(readSeeds([path])).rejects.toThrow(new UsageError(message));
});

test('a folder or a missing list is refused', async () => {
  const path = folder();
  await expect(readSeeds([path])).rejects.toThrow(`${path} is a folder, not a file`);
  await expect(readSeeds([], [`${path}/none`])).rejects.toThrow(`${path}/none doesn't exist`);
});
