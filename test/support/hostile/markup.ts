import { mutate } from '../pages/mutation.ts';
import { generatePage } from '../pages/page-generator.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** Makes a page that is meant to exhaust its reader. */
export type Markup = (random: SeededRandom) => string;

/** Picks the size of a page: up to 600 KB, and sometimes nearly the largest that is accepted. */
export function amount(random: SeededRandom): number {
  return random.chance(0.02) ? 9_500_000 : random.pick([1_000, 20_000, 100_000, 100_000, 300_000, 600_000]);
}

function fill(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length));
}

function links(count: number, href: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `<a href="${href(n)}">${n}</a>`).join('\n');
}

const BASES: readonly Markup[] = [
  (random) => `<base href="http://${fill('A', amount(random))}@h.test/">${links(1_500, (n) => `${n}`)}`,
  () => `<base href="/${fill('a', 8_150)}">${links(10_000, (n) => `?${n}`)}`,
  () => `<base href="/${fill('a/', 2_000)}">${links(10_000, (n) => `${n}`)}`,
  (random) =>
    `<base href="${random.pick(['data:,x', 'javascript:x', 'file:///', 'about:blank', 'http://['])}">${links(30, (n) => `${n}`)}`,
  (random) => `${fill('<base href="/x/">', amount(random))}${links(30, (n) => `${n}`)}`,
  (random) =>
    `<svg><base href="/s/"></svg><template><base href="/t/"></template>${fill('<base>', amount(random))}${links(30, (n) => `${n}`)}`,
  () => `${links(10_000, (n) => `${n}`)}<base href="/late/${fill('b', 1_900)}/">`,
];

const NAMES =
  'div p b i a span li ul table td tr form svg g math mi template select option font button x-y h1 dl dd object title desc foreignObject'.split(
    ' ',
  );

const NESTS: readonly Markup[] = [
  (random) => fill(`<${random.pick(NAMES)}>`, amount(random)),
  (random) => fill(`<${random.pick(NAMES)}><${random.pick(NAMES)}>`, amount(random)),
  (random) => {
    const [name, length] = [random.pick(NAMES), amount(random)];
    return `${fill(`<${name}>`, length)}${fill(`</${name}>`, length)}`;
  },
  (random) => `${fill(`<${random.pick(NAMES)}>`, 3_000)}${fill(`</${random.pick(NAMES)}>`, amount(random))}`,
  (random) => `<p><button>${fill('<u>', 3_000)}${fill('<div></div>', amount(random))}`,
  (random) => fill(`<${random.pick(NAMES)}><a href="/x">x</${random.pick(NAMES)}>`, amount(random)),
  (random) => random.list(1_000, 50_000, () => `<${random.pick(['', '/'])}${random.pick(NAMES)}>`).join(''),
];

const ATTRIBUTES: readonly Markup[] = [
  (random) => `<a title="${fill('x', amount(random))}" href="/1">x</a>`,
  (random) => `<a href="/${fill('x', amount(random))}">x</a>`,
  (random) => `<a ${fill('a=b ', amount(random))} href="/1">x</a>`,
  (random) => `<a ${fill('href=/1 ', amount(random))}>x</a>`,
  (random) => `<a ${fill('=', amount(random))}>x</a>`,
  (random) => `<a href="/1" rel="${fill('nofollow ', amount(random))}">x</a>`,
  (random) => fill(random.pick(['<a ', '<a x="', "<a x='", '<a x=', '<a/', '</a x="']), amount(random)),
  (random) =>
    `<a href="${fill(random.pick([' ', '\t', '\n', '\0', '../', './', '%', '\\', '#', '?', '@', ':']), amount(random))}x">x</a>`,
  (random) =>
    `<meta name=robots content="${fill(random.pick(['a:', ',', 'a:b,']), amount(random))}"><a href="/1">x</a>`,
];

const ENTITIES: readonly Markup[] = [
  (random) =>
    fill(
      random.pick(['&amp;', '&#x41;', '&#0;', '&#xffffffffff;', '&notin', '&', '&#', '&a', '&NotEqualTilde;']),
      amount(random),
    ),
  (random) => `<title>${fill('&amp;', amount(random))}</title>`,
  (random) => `<a href="${fill('&amp;&#x41;', amount(random))}">x</a>`,
  (random) => fill('<a href="&amp;&#x41;">&lt;</a>', amount(random)),
  (random) => `&#${fill('9', amount(random))};&#x${fill('f', 1_000)};<a href="/1">x</a>`,
];

const SECTIONS: readonly Markup[] = [
  (random) =>
    fill(
      random.pick(['<!--', '<!-->', '<!--->', '<!---->', '<!--a--!>', '<!', '<?', '</', '<', '<![CDATA[', '-->']),
      amount(random),
    ),
  (random) => `<!--${fill(random.pick(['-', '--', '--!', '<!--', 'x']), amount(random))}`,
  (random) => `<svg><![CDATA[${fill(random.pick([']', ']]', '<![CDATA[']), amount(random))}`,
  (random) =>
    fill(
      random.pick([
        '<script></script>',
        '<script><!--</script>',
        '<style></style',
        '<title>',
        '<textarea>',
        '<xmp></xmp>',
      ]),
      amount(random),
    ),
  (random) =>
    `<script><!--${fill(random.pick(['<script>', '-->', '<!--', '</script', '<script></script>']), amount(random))}`,
  (random) => `<plaintext>${fill('<a href="/1">', amount(random))}`,
];

const LINKS: readonly Markup[] = [
  () => links(100_000, (n) => `/${n}`),
  () => links(700, (n) => `/${fill('y', 2_000)}${n}`),
  (random) => fill('<a href="/same">x</a>', amount(random)),
  () => links(20_000, (n) => `#${n}`),
  () => links(20_000, (n) => `//[${n}`),
  () => links(20_000, (n) => `http://host-${n}.test/?q=${n}`),
  () =>
    Array.from({ length: 20_000 }, (_, n) => `<a rel=nofollow href="/${n}"><link rel=canonical href="//[${n}">`).join(
      '',
    ),
];

const TEXTS: readonly Markup[] = [
  (random) =>
    fill(
      random.pick([' ', '\u2029', '\0', '\u00a0', 'a*', '\r', '\u0001', '\ufeff', 'é', '\u{1f600}', '"', '\\']),
      amount(random),
    ),
  (random) => `<title>${fill(random.pick([' ', 'x', '\u0001', '\u{1f600}', '"']), amount(random))}</title>`,
  (random) => fill(random.pick(['x<br>', '<p>x', 'x\n', '<td>x', '<hr>']), amount(random)),
  (random) => mutate(mutate(generatePage(random.below(2 ** 31)), random), random),
];

/** Hostile markup by its kind. */
export const HOSTILE_MARKUP: Readonly<Record<string, readonly Markup[]>> = {
  bases: BASES,
  nesting: NESTS,
  attributes: ATTRIBUTES,
  entities: ENTITIES,
  sections: SECTIONS,
  links: LINKS,
  texts: TEXTS,
};
