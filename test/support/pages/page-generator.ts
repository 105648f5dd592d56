import { SeededRandom } from '../seeded-random.ts';

/** Kinds of pages, as sites of different ages write them, with typical mistakes. */
const KINDS = [article, forum, reference, nineties, encyclopedia, shop, mess] as const;

/** Generates a page of some kilobytes; the same seed gives the same page. */
export function generatePage(seed: number): string {
  const random = new SeededRandom(seed);
  return random.pick(KINDS)(random);
}

const WORDS =
  'time year people way day man thing woman life child world school state family student group country problem hand part place case week company system program question work night point home water room mother area money story fact month lot right study book eye job word business issue side kind head house friend father power hour game line end member law car city name team minute idea body back parent face others level office door health person art war history party result change morning reason research girl guy moment air teacher force education'.split(
    ' ',
  );

function words(random: SeededRandom, least = 3, most = 12): string {
  return random.list(least, most, () => random.pick(WORDS)).join(' ');
}

/** Text with escaped characters, and with some that people forget to escape. */
function text(random: SeededRandom): string {
  const odd = random.pick([
    '',
    '',
    '',
    ' &amp; ',
    ' &mdash; ',
    '&nbsp;',
    ' & ',
    ' < ',
    ' &copy 2024 ',
    '…',
    ' “é” ',
    ' 3 > 2 ',
  ]);
  return `${words(random)}${odd}${words(random)}`;
}

/** An address as pages write it. */
function href(random: SeededRandom): string {
  const [word, other, n] = [random.pick(WORDS), random.pick(WORDS), random.below(1_000)];
  return random.pick([
    `/${word}/${other}`,
    `/${word}/${n}.html`,
    `${word}.html`,
    `../${word}/`,
    `./${word}`,
    `?page=${n}`,
    `/${word}?a=${n}&amp;b=${other}`,
    `/${word}?a=${n}&b=${other}&copy=${n}`,
    `#${word}`,
    `/${word}#${other}`,
    `https://www.example.org/${word}`,
    `//cdn.example.net/${word}/${n}`,
    `HTTP://Example.COM:80/${word}`,
    `mailto:${word}@example.com`,
    'javascript:void(0)',
    ` /${word} `,
    `/${word} ${other}`,
    `/\n${word}`,
    `/caf%c3%a9/${word}`,
    `/café/${word}`,
    `/a/../${word}/./b`,
    `\\${word}`,
    `http://user:pw@example.com/${word}`,
    `http:///${word}`,
    `tel:+1${n}`,
    '',
  ]);
}

function anchor(random: SeededRandom): string {
  const quote = random.pick(['"', '"', '"', "'"]);
  const rel = random.pick(['', '', '', ' rel="nofollow"', ' rel="noopener external"', ' target=_blank']);
  return `<a class="${random.pick(WORDS)}" href=${quote}${href(random)}${quote}${rel}>${words(random, 1, 4)}</a>`;
}

function paragraph(random: SeededRandom): string {
  const parts = random.list(1, 4, () =>
    random.pick([text, text, anchor, (r) => `<b>${text(r)}</b>`, (r) => `<em>${anchor(r)}</em>`])(random),
  );
  return `<p>${parts.join(' ')}${random.chance(0.8) ? '</p>' : ''}\n`;
}

function icon(random: SeededRandom): string {
  return random.pick([
    `<svg viewBox="0 0 10 10"><title>${words(random, 1, 2)}</title><path d="M0 0h10z"/></svg>`,
    '<svg><title/><use xlink:href="#icon"/></svg>',
    `<svg><style>.a{fill:red}</style><g><circle r="1"/><a xlink:href="/${random.pick(WORDS)}"><text>x</text></a></g></svg>`,
    `<svg><foreignObject><div>${anchor(random)}</div></foreignObject></svg>`,
    '<svg><defs><style><![CDATA[ .a > .b { fill: red } ]]></style></defs></svg>',
    '<svg><script>if (a < b) {}</script></svg>',
  ]);
}

function head(random: SeededRandom): string {
  const parts = [
    `<title>${random.pick(['', '\n  '])}${words(random, 1, 6)}${random.pick(['', ' &#8211; Example', ' &lt;b&gt; ', ' | <i>x</i>'])}</title>`,
    random.pick(['', '', `<base href="${random.pick(['/base/', 'https://example.org/b/', 'sub/'])}">`]),
    random.pick(['', `<link rel="canonical" href="${href(random)}">`]),
    '<link rel="stylesheet" href="/s.css">',
    '<meta charset="utf-8"><meta name="description" content="a > b">',
    random.pick(['', '<script>document.write("<a href=\\"/written\\">x<\\/a>")</script>']),
    random.pick(['', '<script type="application/ld+json">{"@type": "<Thing>"}</script>']),
    random.pick(['', '<!--[if IE]><link rel="canonical" href="/ie"><![endif]-->']),
    random.pick(['', '<noscript><link rel="stylesheet" href="/n.css"><img src="/pixel"></noscript>']),
    '<style>a > b { content: "</a>" }</style>',
  ];
  return `<!doctype html>\n<html lang="en">\n<head>\n${parts.join('\n')}\n${random.chance(0.9) ? '</head>\n' : ''}`;
}

function article(random: SeededRandom): string {
  const nav = random.list(3, 20, () => `<li>${icon(random)} ${anchor(random)}</li>`).join('\n');
  const body = random.list(3, 12, paragraph.bind(undefined, random)).join('');
  const related = random.list(1, 6, () => `<article><h3>${anchor(random)}</h3>${paragraph(random)}</article>`);
  const figure = `<figure><a href="${href(random)}"><picture><source srcset="/a 1x"><img src=x alt='a "b"'></picture></a></figure>`;
  const noscript = `<noscript><iframe src="/x"></iframe>${anchor(random)}</noscript>`;
  return `${head(random)}<body>\n<nav><ul>${nav}</ul></nav>\n<main><h1>${words(random)}</h1>${figure}${body}</main>
<aside>${related.join('\n')}</aside>${noscript}<footer>${paragraph(random)}</footer>\n</body></html>\n`;
}

function forum(random: SeededRandom): string {
  const posts = random.list(
    2,
    10,
    () => `<tr><td valign=top>${anchor(random)}<br>${icon(random)}<td><blockquote>${paragraph(random)}</blockquote>
<div>${paragraph(random)}</div><form action="/reply"><input type=hidden name=a value="<a href='/no'>"><textarea><a href="/no">x</a>
</textarea><select name=s><option>1<option selected>2</select></form></td></tr>`,
  );
  return `${head(random)}<body><table border=0><caption>${words(random)}</caption>\n${posts.join('\n')}</table>
<center>${random.list(2, 6, () => anchor(random)).join(' | ')}</center></body></html>`;
}

function reference(random: SeededRandom): string {
  const entries = random.list(
    2,
    12,
    (n) => `<dt id="e${n}"><code>${random.pick(WORDS)}&lt;T&gt;</code> <a href="#e${n}">§</a>
<dd>${paragraph(random)}<pre><code class="x">if (a &lt; b) { <span>${words(random)}</span> }</code></pre>
<details><summary>${words(random)}</summary><ul><li>${anchor(random)}<li>${anchor(random)}</ul></details>`,
  );
  return `${head(random)}<body><h1>${words(random)}</h1><p>${anchor(random)}<dl>${entries.join('\n')}</dl><hr>${icon(random)}`;
}

function nineties(random: SeededRandom): string {
  const rows = random.list(
    2,
    10,
    () => `<TR><TD BGCOLOR=#FFFFFF NOWRAP><FONT FACE=Arial SIZE=2><A HREF=${random.pick(WORDS)}.htm>${words(random)}</A></FONT>
<TD><P>${text(random)}<P><B><I>${words(random)}</B></I><BR><A HREF="${href(random)}"><IMG SRC=a.gif BORDER=0></A>`,
  );
  return `<HTML><HEAD><TITLE>${words(random)}</TITLE>
<SCRIPT LANGUAGE="JavaScript"><!--
document.write('<A HREF="/no">x</A>');
// --></SCRIPT></HEAD>
<BODY BGCOLOR="#FFFFFF" LINK=blue><CENTER><H1>${words(random)}</H2></CENTER>
<TABLE WIDTH=100%>${rows.join('\n')}</TABLE><MAP NAME=m><AREA SHAPE=RECT COORDS="0,0,1,1" HREF="${href(random)}"></MAP>
<NOFRAMES><A HREF="/no">x</A></NOFRAMES><A NAME=end><HR><UL><LI>${words(random)}<LI>${anchor(random)}</UL></BODY></HTML>`;
}

function encyclopedia(random: SeededRandom): string {
  const formula = `<math><semantics><mrow><mi>a</mi><mo>&lt;</mo><mtext>for <b>all</b> ${anchor(random)}</mtext></mrow>
<annotation-xml encoding="${random.pick(['text/html', 'MathML-Content', 'application/xhtml+xml'])}"><p>${words(random)}</p></annotation-xml></semantics></math>`;
  const sections = random.list(
    2,
    8,
    () => `<h2>${words(random)} <span>[${anchor(random)}]</span></h2>${paragraph(random)}${random.chance(0.4) ? formula : ''}
<ul>${random.list(1, 8, () => `<li>${anchor(random)}<sup>[${random.below(9)}]</sup></li>`).join('')}</ul>`,
  );
  return `${head(random)}<body>${sections.join('\n')}<table class=infobox><tbody><tr><th colspan=2>${icon(random)}</th></tr></tbody></table></body></html>`;
}

function shop(random: SeededRandom): string {
  const items = random.list(
    2,
    16,
    () => `<div class="item" data-json='{"url":"<a href=\\"/no\\">"}'><a href="${href(random)}"><h3>${words(random)}</h3>
<span>${random.below(100)}&euro;</span></a><button type=button>${icon(random)}</button></div>`,
  );
  const template = `<template id=t><a href="/{{url}}"><title>{{x}}</title></a><template><a href="/no"></a></template></template>`;
  const shadow = `<x-card><template shadowrootmode="open"><slot></slot>${anchor(random)}</template></x-card>`;
  return `${head(random)}<body>${template}${shadow}<div id=app>${items.join('\n')}</div>
<script>window.__STATE__ = {"html": "<!-- <script>x<\\/script> <a href='/no'>"}</script>\n</body></html>`;
}

/** Broken markup that a browser still makes sense of. */
function mess(random: SeededRandom): string {
  const parts = random.list(5, 25, () =>
    random.pick<(random: SeededRandom) => string>([
      paragraph,
      anchor,
      icon,
      (r) => `<a href=${r.pick(WORDS)}/ href="/second">${words(r)}`,
      (r) => `<div><b><p>${text(r)}</b>${anchor(r)}</div></p>`,
      (r) => `<![CDATA[ ${words(r)} > ${anchor(r)} ]]>`,
      (r) => `<!-- ${anchor(r)} --!> ${words(r)}`,
      (r) => `<table><tr>${anchor(r)}<td>${anchor(r)}</table>`,
      (r) => `<svg><p>${anchor(r)}</svg>`,
      (r) => `</p title="${anchor(r).replaceAll('"', "'")}">`,
      (r) => `<A\tHREF\n=\n'${href(r).replaceAll("'", '')}'/>${words(r)}</A >`,
      (r) => `<li><ul><li>${anchor(r)}</ul></li></li>`,
      (r) => `<?php echo "${words(r)}" ?>${anchor(r)}`,
      () => '<br/></br><image src=x><form><form></form></form>',
      () => '</body></html>',
      () => '<title>late</title>',
    ])(random),
  );
  return `${random.chance(0.5) ? head(random) : ''}${parts.join(random.pick(['', '\n', '\r\n']))}`;
}
