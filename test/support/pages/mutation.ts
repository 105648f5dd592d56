import type { SeededRandom } from '../seeded-random.ts';

/** Snippets that change the meaning of the markup after them. */
const SNIPPETS = [
  ...[
    '<',
    '>',
    '"',
    "'",
    '=',
    '/',
    '&',
    '\0',
    ' ',
    '\n',
    '-',
    '!',
    ']]>',
    '<!--',
    '-->',
    '--!>',
    '<![CDATA[',
    '<!',
    '<?',
    '</',
  ],
  ...[
    '<svg>',
    '</svg>',
    '<svg/>',
    '<math>',
    '</math>',
    '<title>',
    '</title>',
    '<title/>',
    '<style>',
    '</style>',
    '<style/>',
  ],
  ...[
    '<script>',
    '</script>',
    '<script/>',
    '<textarea>',
    '</textarea>',
    '<xmp>',
    '<iframe>',
    '</iframe>',
    '<noframes>',
  ],
  ...[
    '<template>',
    '</template>',
    '<table>',
    '</table>',
    '<td>',
    '<tr>',
    '</tr>',
    '<caption>',
    '<select>',
    '</select>',
  ],
  ...[
    '<p>',
    '</p>',
    '<b>',
    '</b>',
    '<a>',
    '</a>',
    '<a href="/m">',
    '<div>',
    '</div>',
    '<li>',
    '</li>',
    '<form>',
    '</form>',
  ],
  ...['<foreignObject>', '</foreignObject>', '<desc>', '<mi>', '<mtext>', '<annotation-xml encoding="text/html">'],
  ...['<body>', '</body>', '</html>', '<head>', '</head>', '<frameset>', '<noscript>', '</noscript>', '<plaintext>'],
  ...[
    '<base href="/m/">',
    '<link rel=canonical href="/m">',
    '<font color=red>',
    '<font>',
    '<button>',
    '<h1>',
    '</h2>',
    '<option>',
  ],
];

/** Returns the page with one to five random changes: parts cut out, doubled, moved or inserted. */
export function mutate(page: string, random: SeededRandom): string {
  let text = page;
  for (let left = 1 + random.below(5); left > 0; left--) {
    const at = random.below(text.length + 1);
    const end = Math.min(text.length, at + 1 + random.below(random.pick([2, 20, 400])));
    const part = text.slice(at, end);
    const to = random.below(text.length + 1);
    switch (random.pick(['cut', 'double', 'move', 'end', 'put', 'put', 'put', 'tag', 'tag'])) {
      case 'cut':
        text = text.slice(0, at) + text.slice(end);
        break;
      case 'double':
        text = text.slice(0, to) + part + text.slice(to);
        break;
      case 'move': {
        const rest = text.slice(0, at) + text.slice(end);
        text = rest.slice(0, to) + part + rest.slice(to);
        break;
      }
      case 'end':
        if (random.chance(0.1)) text = text.slice(0, at);
        break;
      case 'put':
        text = text.slice(0, at) + random.pick(SNIPPETS) + text.slice(at);
        break;
      case 'tag':
        text = withoutTag(text, random);
    }
  }
  return text;
}

/** Removes one of the page's tags. */
function withoutTag(text: string, random: SeededRandom): string {
  const tags = [...text.matchAll(/<\/?[a-z][^>]*>/gi)];
  if (tags.length === 0) return text;
  const { index, 0: tag } = random.pick(tags);
  return text.slice(0, index) + text.slice(index + tag.length);
}
