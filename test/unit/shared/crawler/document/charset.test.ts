import { expect, test } from 'vitest';
import { decodeBody } from '../../../../../shared/crawler/document/charset.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf16le = Buffer.from('\uFEFFGrüße', 'utf16le');
const utf16be = Buffer.from('\uFEFFGrüße', 'utf16le').swap16();
const late = ' '.repeat(1024);

// biome-ignore format: a table
const table: readonly (readonly [string, Buffer, string | undefined, charset: string, text: string])[] = [
  ['no charset declared, valid UTF-8',             Buffer.from('Grüße'),                               undefined,                          'utf-8',        'Grüße'],
  ['no charset declared, invalid UTF-8',           latin('Grüße'),                                     undefined,                          'windows-1252', 'Grüße'],
  ['windows-1252 beyond ISO 8859-1',               latin('\x80 5'),                                    'text/html',                        'windows-1252', '€ 5'],
  ['no bytes',                                     latin(''),                                          undefined,                          'utf-8',        ''],
  ['a byte order mark is not part of the text',    Buffer.from('\uFEFFGrüße'),                         undefined,                          'utf-8',        'Grüße'],
  ['a byte order mark beats the Content-Type',     utf16le,                                            'text/html; charset=utf-8',         'utf-16le',     'Grüße'],
  ['a big-endian byte order mark',                 utf16be,                                            undefined,                          'utf-16be',     'Grüße'],
  ['UTF-16 without a byte order mark',             Buffer.from('<p>Grüße', 'utf16le'),                 undefined,                          'utf-16le',     '<p>Grüße'],
  ['a charset in the Content-Type',                latin('Grüße'),                                     'text/html; charset=ISO-8859-1',    'windows-1252', 'Grüße'],
  ['a quoted charset in the Content-Type',         Buffer.from([0x93, 0xfa, 0x96, 0x7b]),              'text/html; Charset="Shift_JIS"',   'shift_jis',    '日本'],
  ['Korean, beyond KS X 1001',                     Buffer.from([0x81, 0x41, 0xb0, 0xa1, 0x8c, 0x63, 0xc6, 0x52]), 'text/html; charset=euc-kr', 'euc-kr', '갂가똠힣'],
  ['another parameter after the charset',          Buffer.from([0xc4, 0xe3]),                          'text/html;charset=gb2312;v=1',     'gbk',          '你'],
  ['the Content-Type beats the meta element',      Buffer.from('<meta charset=gbk>ü'),                 'text/html; charset=utf-8',         'utf-8',        '<meta charset=gbk>ü'],
  ['an unknown charset in the Content-Type',       latin('<meta charset=koi8-r>\xcd'),                 'text/html; charset=klingon',       'koi8-r',       '<meta charset=koi8-r>м'],
  ['an invalid byte is replaced',                  Buffer.from([0x41, 0xff, 0x42]),                    'text/html; charset=utf-8',         'utf-8',        'A\uFFFDB'],
  ['a meta element',                               latin('<meta charset="koi8-r">\xcd'),               'text/html',                        'koi8-r',       '<meta charset="koi8-r">м'],
  ['a meta element, unquoted and self-closing',    latin('<META CharSet=koi8-r />\xcd'),               'text/html',                        'koi8-r',       '<META CharSet=koi8-r />м'],
  ['a meta element after another',                 latin("<meta name=x><meta charset='koi8-r'>\xcd"),  undefined,                          'koi8-r',       "<meta name=x><meta charset='koi8-r'>м"],
  ['a meta http-equiv',                            latin('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">\xcd'), undefined, 'koi8-r', '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">м'],
  ['a meta http-equiv after its content',          latin('<meta content="a;charset=koi8-r" http-equiv=content-type>\xcd'), undefined, 'koi8-r',    '<meta content="a;charset=koi8-r" http-equiv=content-type>м'],
  ['the content of another meta is ignored',       latin('<meta name=x content="charset=koi8-r">\xfc'), undefined,                         'windows-1252', '<meta name=x content="charset=koi8-r">ü'],
  ['a meta element in a comment is ignored',       latin('<!-- <meta charset=koi8-r> -->\xfc'),        undefined,                          'windows-1252', '<!-- <meta charset=koi8-r> -->ü'],
  ['a meta element of UTF-16 means UTF-8',         Buffer.from('<meta charset=utf-16>ü'),              undefined,                          'utf-8',        '<meta charset=utf-16>ü'],
  ['an unknown charset in a meta element',         latin('<meta charset=klingon>\xfc'),                undefined,                          'windows-1252', '<meta charset=klingon>ü'],
  ['an unknown charset before a known one',        latin('<meta charset=klingon><meta charset=koi8-r>\xcd'), undefined,                   'koi8-r',       '<meta charset=klingon><meta charset=koi8-r>м'],
  ['two charsets in one meta element',             latin('<meta charset=koi8-r charset=gbk>\xcd'),     undefined,                          'koi8-r',       '<meta charset=koi8-r charset=gbk>м'],
  ['a > in an attribute before the charset',       latin('<meta title="a>b" charset=koi8-r>\xcd'),     undefined,                          'koi8-r',       '<meta title="a>b" charset=koi8-r>м'],
  ['a meta element in a script is ignored',        latin("<script>'<meta charset=koi8-r>'</script>\xfc"), undefined,                       'windows-1252', "<script>'<meta charset=koi8-r>'</script>ü"],
  ['a meta element in an attribute is ignored',    latin('<a title="<meta charset=koi8-r>">\xfc'),     undefined,                          'windows-1252', '<a title="<meta charset=koi8-r>">ü'],
  ['a meta element after a comment of no text',    latin('<!--><meta charset=koi8-r>\xcd'),            undefined,                          'koi8-r',       '<!--><meta charset=koi8-r>м'],
  ['a meta element of x-user-defined',             latin('<meta charset=x-user-defined>\xfc'),         undefined,                          'windows-1252', '<meta charset=x-user-defined>ü'],
  ['spaces around a quoted charset',               latin('\xcd'),                                      'text/html; charset=" koi8-r "',    'koi8-r',       'м'],
  ['a meta element after the first KiB',           latin(`${late}<meta charset=koi8-r>\xcd`),          undefined,                          'koi8-r',       `${late}<meta charset=koi8-r>м`],
  ['valid UTF-8 beats a meta after the first KiB', Buffer.from(`${late}<meta charset=koi8-r>ü`),       undefined,                          'utf-8',        `${late}<meta charset=koi8-r>ü`],
  ['a late meta in a script is ignored',           latin(`${late}<script>'<meta charset=koi8-r>'</script>\xfc`), undefined,                'windows-1252', `${late}<script>'<meta charset=koi8-r>'</script>ü`],
  ['a meta element after a long script',           latin(`<script>//${late}</script><meta http-equiv=Content-Type content="text/html; charset=koi8-r">\xcd`), undefined, 'koi8-r', `<script>//${late}</script><meta http-equiv=Content-Type content="text/html; charset=koi8-r">м`],
  ['a meta element after 256 KiB is ignored',      latin(`${late.repeat(256)}<meta charset=koi8-r>\xfc`), undefined,                       'windows-1252', `${late.repeat(256)}<meta charset=koi8-r>ü`],
  ['an XML declaration',                           latin("<?xml version='1.0' encoding='ISO-8859-2'?>\xb1"), undefined,                    'iso-8859-2',   "<?xml version='1.0' encoding='ISO-8859-2'?>ą"],
];

test.each(table)('a body is decoded by its charset: %s', (_, body, contentType, charset, text) => {
  expect(decodeBody(body, contentType)).toEqual({ charset, text });
});
