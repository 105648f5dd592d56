import { describe, expect, test } from 'vitest';
import { Page } from '../../../../shared/crawler/page.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import type { Task } from '../../../../shared/task/task/task.ts';

const TASK: Task = {
  run: 'r',
  url: 'http://a.test/',
  host: 'a.test',
  mark: 'http://a.test/',
  step: '',
  depth: 0,
  queue: 'normal',
};

function pageOf(body: Uint8Array, contentType: string): Page {
  const headers = { 'content-type': contentType };
  return new Page(TASK, { finalUrl: TASK.url, status: 200, headers, body, durationMs: 1 });
}

const LARGE = `<title>Größe</title>${'<p>Text über <a href="/1">€</a>\n'.repeat(30_000)}<a href="/2" rel=nofollow>2</a>`;

function facts(page: Page): unknown[] {
  const { title, canonical, truncated, readableText, text } = page;
  return [title, page.links(), canonical, truncated, page.mayFollow('http://a.test/2'), readableText, text];
}

describe('a large page is read ahead', () => {
  // biome-ignore format: a table
  test.each<[string, Uint8Array, string, RunOptions['content']]>([
    ['UTF-8',                     Buffer.from(LARGE),                    'text/html; charset=utf-8',        'none'],
    ['UTF-8, its text kept',      Buffer.from(LARGE),                    'text/html; charset=utf-8',        'text'],
    ['UTF-8, all of it kept',     Buffer.from(LARGE),                    'text/html; charset=utf-8',        'html'],
    ['UTF-16, by its mark',       Buffer.from(`\ufeff${LARGE}`, 'utf16le'), 'text/html',                  'text'],
    ['ISO 8859-1, by its meta',   Buffer.from(`<meta charset=latin1>${LARGE.replaceAll('€', 'c')}`, 'latin1'), 'text/html', 'text'],
    ['no HTML, not kept',         Buffer.from(LARGE),                    'application/json',                'none'],
    ['no HTML, kept',             Buffer.from(LARGE),                    'application/json',                'text'],
  ])('with the same result as at once: %s', async (_, body, contentType, content) => {
    const ahead = pageOf(body, contentType);
    expect(ahead.isLarge).toBe(true);
    await ahead.readAhead(content);
    expect(facts(ahead)).toEqual(facts(pageOf(body, contentType)));
  });

  test('in steps, between which other work runs', async () => {
    const page = pageOf(Buffer.from(LARGE), 'text/html; charset=utf-8');
    let turns = 0;
    let isRead = false;
    const others = (): void => {
      turns++;
      if (!isRead) setImmediate(others);
    };
    setImmediate(others);
    await page.readAhead('text');
    isRead = true;
    expect(turns).toBeGreaterThan((2 * LARGE.length) / 100_000);
  });

  test('most pages are not large', () => {
    expect(pageOf(Buffer.alloc(100_000, ' '), 'text/html').isLarge).toBe(false);
  });
});

test('XHTML is recognised by its media type', () => {
  const body = Buffer.from('<script src="x"/><a href="/1"/>');
  expect(pageOf(body, 'application/xhtml+xml; charset=utf-8').links()).toEqual(['http://a.test/1']);
  expect(pageOf(body, 'text/html').links()).toEqual([]);
});
