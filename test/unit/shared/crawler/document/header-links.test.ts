import { describe, expect, test } from 'vitest';
import { linksIn } from '../../../../../shared/crawler/leads/leads.ts';
import { Page } from '../../../../../shared/crawler/page.ts';

const URL_OF_PAGE = 'https://a.test/dir/list?page=1';

function pageWith(headers: Readonly<Record<string, string>>, html = '', contentType = 'text/html'): Page {
  return Page.fromHtml(html, { url: URL_OF_PAGE, contentType, headers });
}

// The examples of RFC 8288, section 3.5, and what sites and APIs send.
// biome-ignore format: a table
test.each<[string, string | undefined, readonly string[]]>([
  ['<https://a.test/c>; rel="canonical"', 'https://a.test/c', []],
  ['<c>; rel=canonical', 'https://a.test/dir/c', []],
  ['</p2>; rel="next"; title="next chapter"', undefined, ['https://a.test/p2']],
  ['<?page=2>; rel="next", <?page=9>; rel="last"', undefined, ['https://a.test/dir/list?page=2']],
  ['<?page=0>; rel="prev first", <?page=2>; rel="NEXT x"', undefined, ['https://a.test/dir/list?page=2']],
  ['</a,b;c>; REL=next,</a,b;c>; rel=next', undefined, ['https://a.test/a,b;c']],
  ['</style.css>; rel=preload; as=style, </c>; rel=canonical, </d>; rel=canonical', 'https://a.test/c', []],
  ['</p2>; rel=next; rel=canonical', undefined, ['https://a.test/p2']],
  ['</of-another>; rel=canonical; anchor="/another"', undefined, []],
  ['</p2#part>; rel=next', undefined, ['https://a.test/p2']],
  ['<#part>; rel=next, <>; rel=next, <mailto:a@b>; rel=next, <javascript:x()>; rel=canonical', undefined, []],
  ['<https://user:word@b.test/>; rel=canonical', 'https://b.test/', []],
  [`</${'x'.repeat(2_100)}>; rel=canonical`, undefined, []],
  ['</style.css>; as=style, <>, </c>; rel=canonical', 'https://a.test/c', []],
  ['</style.css>; rel=preload; as=style; nopush, </c>; rel=canonical', 'https://a.test/c', []],
  ['</f.woff>; rel=preload; crossorigin; as=font,</p2>; rel="next"', undefined, ['https://a.test/p2']],
  [', </c>; rel=canonical,, </p2>;; rel=next;', 'https://a.test/c', ['https://a.test/p2']],
  ['nonsense; rel=next, </c>; rel=canonical', 'https://a.test/c', []],
  ['</c>; title="a \\", <b>; rel=next"; rel=canonical', 'https://a.test/c', []],
  ['</c>; title="<b>; rel=next, </c>; rel=canonical', undefined, []],
  ['</style.css>', undefined, []],
  ['nonsense', undefined, []],
  ['</p2', undefined, []],
  ['', undefined, []],
])('a header Link: %s gives the canonical URL %s and the next pages %j', (link, canonical, next) => {
  const page = pageWith({ link });
  expect([page.canonical, page.nextPages]).toEqual([canonical, next]);
});

// biome-ignore format: a table
test.each<[string, string | undefined]>([
  ['0; url=/en/', 'https://a.test/en/'],
  ['5;URL="en"', 'https://a.test/dir/en'],
  ['0;url=/caf\u00c3\u00a9', 'https://a.test/caf%C3%A9'],
  [`0; url=${URL_OF_PAGE}`, undefined],
  ['0; url=javascript:x()', undefined],
  ['5', undefined],
  ['soon', undefined],
])('a header Refresh: %s leads to %s', (refresh, target) => {
  expect(pageWith({ refresh }).refresh).toBe(target);
});

describe('links in headers and in the head of a page', () => {
  const html = `<base href=/other/><link rel=canonical href=c><link rel=next href=2><meta http-equiv=refresh content="0;url=r">`;
  const headers = { link: '<h>; rel=canonical, <h2>; rel=next', refresh: '0; url=hr' };

  test('the head’s canonical URL counts, the header’s refresh comes first, and next pages are those of both', () => {
    const page = pageWith(headers, html);
    expect(page.canonical).toBe('https://a.test/other/c');
    expect(page.refresh).toBe('https://a.test/dir/hr');
    expect(page.nextPages).toEqual(['https://a.test/other/2', 'https://a.test/dir/h2']);
    expect(page.nextPages.map((link) => page.isNext(link))).toEqual([true, true]);
    expect(page.links()).toEqual([]);
  });

  test('links named only in headers are followed, even without HTML', () => {
    const page = pageWith(headers, '{}', 'application/json');
    expect(linksIn(page)).toEqual(['https://a.test/dir/hr', 'https://a.test/dir/h2']);
    expect(page.canonical).toBe('https://a.test/dir/h');
  });
});
