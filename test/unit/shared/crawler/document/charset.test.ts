import { expect, test } from 'vitest';
import { decodeBody } from '../../../../../shared/crawler/document/charset.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf16le = Buffer.from('\uFEFFGrüße', 'utf16le');
const utf16be = Buffer.from('\uFEFFGrüße', 'utf16le').swap16();
const late = ' '.repeat(1024);

// biome-ignore format: a table
const table: readonly (readonly [string, Buffer, string | undefined, charset: string, text: string])[] = [
  ['nothing said, and UTF-8',             Buffer.from('Grüße'),                               undefined,                          'utf-8',        'Grüße'],
  ['nothing said, and not UTF-8',         latin('Grüße'),                                     undefined,                          'windows-1252', 'Grüße'],
  ['windows-1252 beyond ISO 8859-1',      latin('\x80 5'),                                    'text/html',                        'windows-1252', '€ 5'],
  ['no bytes',                            latin(''),                                          undefined,                          'utf-8',        ''],
  ['a mark, and it is not text',          Buffer.from('\uFEFFGrüße'),                         undefined,                          'utf-8',        'Grüße'],
  ['a mark beats the Content-Type',       utf16le,                                            'text/html; charset=utf-8',         'utf-16le',     'Grüße'],
  ['a mark, the other way round',         utf16be,                                            undefined,                          'utf-16be',     'Grüße'],
  ['UTF-16 without a mark',               Buffer.from('<p>Grüße', 'utf16le'),                 undefined,                          'utf-16le',     '<p>Grüße'],
  ['Content-Type',                        latin('Grüße'),                                     'text/html; charset=ISO-8859-1',    'windows-1252', 'Grüße'],
  ['Content-Type, quoted',                Buffer.from([0x93, 0xfa, 0x96, 0x7b]),              'text/html; Charset="Shift_JIS"',   'shift_jis',    '日本'],
  ['Korean, beyond KS X 1001',            Buffer.from([0x81, 0x41, 0xb0, 0xa1, 0x8c, 0x63, 0xc6, 0x52]), 'text/html; charset=euc-kr', 'euc-kr', '갂가똠힣'],
  ['Content-Type, with another after it', Buffer.from([0xc4, 0xe3]),                          'text/html;charset=gb2312;v=1',     'gbk',          '你'],
  ['Content-Type beats the page',         Buffer.from('<meta charset=gbk>ü'),                 'text/html; charset=utf-8',         'utf-8',        '<meta charset=gbk>ü'],
  ['Content-Type that nobody knows',      latin('<meta charset=koi8-r>\xcd'),                 'text/html; charset=klingon',       'koi8-r',       '<meta charset=koi8-r>м'],
  ['never fatal',                         Buffer.from([0x41, 0xff, 0x42]),                    'text/html; charset=utf-8',         'utf-8',        'A\uFFFDB'],
  ['meta',                                latin('<meta charset="koi8-r">\xcd'),               'text/html',                        'koi8-r',       '<meta charset="koi8-r">м'],
  ['meta, bare and closed',               latin('<META CharSet=koi8-r />\xcd'),               'text/html',                        'koi8-r',       '<META CharSet=koi8-r />м'],
  ['meta, after another',                 latin("<meta name=x><meta charset='koi8-r'>\xcd"),  undefined,                          'koi8-r',       "<meta name=x><meta charset='koi8-r'>м"],
  ['http-equiv',                          latin('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">\xcd'), undefined, 'koi8-r', '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">м'],
  ['http-equiv, the other way round',     latin('<meta content="a;charset=koi8-r" http-equiv=content-type>\xcd'), undefined, 'koi8-r',    '<meta content="a;charset=koi8-r" http-equiv=content-type>м'],
  ['content of another meta',             latin('<meta name=x content="charset=koi8-r">\xfc'), undefined,                         'windows-1252', '<meta name=x content="charset=koi8-r">ü'],
  ['meta in a comment',                   latin('<!-- <meta charset=koi8-r> -->\xfc'),        undefined,                          'windows-1252', '<!-- <meta charset=koi8-r> -->ü'],
  ['meta that claims UTF-16',             Buffer.from('<meta charset=utf-16>ü'),              undefined,                          'utf-8',        '<meta charset=utf-16>ü'],
  ['meta that nobody knows',              latin('<meta charset=klingon>\xfc'),                undefined,                          'windows-1252', '<meta charset=klingon>ü'],
  ['meta that comes late',                latin(`${late}<meta charset=koi8-r>\xcd`),          undefined,                          'koi8-r',       `${late}<meta charset=koi8-r>м`],
  ['meta that comes late, and UTF-8',     Buffer.from(`${late}<meta charset=koi8-r>ü`),       undefined,                          'utf-8',        `${late}<meta charset=koi8-r>ü`],
  ['late text that is no meta',           latin(`${late}<script>'<meta charset=koi8-r>'</script>\xfc`), undefined,                'windows-1252', `${late}<script>'<meta charset=koi8-r>'</script>ü`],
  ['meta behind a long script',           latin(`<script>//${late}</script><meta http-equiv=Content-Type content="text/html; charset=koi8-r">\xcd`), undefined, 'koi8-r', `<script>//${late}</script><meta http-equiv=Content-Type content="text/html; charset=koi8-r">м`],
  ['meta that comes far too late',        latin(`${late.repeat(256)}<meta charset=koi8-r>\xfc`), undefined,                       'windows-1252', `${late.repeat(256)}<meta charset=koi8-r>ü`],
  ['XML declaration',                     latin("<?xml version='1.0' encoding='ISO-8859-2'?>\xb1"), undefined,                    'iso-8859-2',   "<?xml version='1.0' encoding='ISO-8859-2'?>ą"],
];

test.each(table)('%s', (_, body, contentType, charset, text) => {
  expect(decodeBody(body, contentType)).toEqual({ charset, text });
});
