import { describe, test } from 'vitest';
import { acceptsText } from '../../../../shared/crawler/crawler.ts';
import { decodeBody } from '../../../../shared/crawler/document/charset.ts';
import { readDocument } from '../../../../shared/crawler/document/document.ts';
import { mediaTypeOf } from '../../../../shared/crawler/document/media-type.ts';
import { readText } from '../../../../shared/crawler/document/readable-text.ts';
import { recordJson } from '../../../../shared/sinks/record-json.ts';
import { forbidsFollowing, isRobotsMeta } from '../../../../shared/task/robots/robots-directives.ts';
import { linkBase, resolveLink } from '../../../../shared/task/url/url.ts';
import { doneRecord } from '../../../support/builders.ts';
import { expectCpuBelow } from '../../../support/hostile/cpu-limit.ts';

const LENGTH = 1_000_000;
/** Anything slower than linear would take hours, not seconds. */
const LIMIT_S = 5;

const fill = (piece: string): string => piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
const COMMON = [
  ' ',
  '\u2028',
  'a*',
  '\t\n',
  '\u00a0',
  '\ud800',
  '=',
  '"',
  "'",
  '<',
  '-',
  ';',
  ',',
  ':',
  '/',
  '%',
  '.',
  '\\',
];

const BASE = linkBase('http://a.test/dir/');
const document = (html: string) => readDocument(html, 'http://a.test/dir/');

/** Functions that read foreign text with regular expressions, and beginnings that those expressions match. */
// biome-ignore format: a table
const READERS: readonly (readonly [name: string, read: (text: string) => unknown, prefixes: readonly string[]])[] = [
  ['the charset of a Content-Type',  (text) => decodeBody(Buffer.alloc(0), text),                             ['charset', 'charset ', 'charset=', 'charset="', 'text/html; ']],
  ['the charset of a page',          (text) => decodeBody(Buffer.from(text), undefined),                      ['<meta ', '<meta charset', '<meta a="', '<meta content=', '<!--', '<?xml ', '<?xml encoding', '<?xml encoding=\'']],
  ['a media type',                   (text) => acceptsText(mediaTypeOf(text)),                                ['application/', 'application/x+', 'text/']],
  ['a page\'s markup',               (text) => document(text),                                                ['<a ', '<a href', '<a href=', '<a href="', '</a ', '</', '<!--', '<!', '<?', '<![CDATA[', '<svg>', '<title>', '<a rel=', '<!--a--!>', '<!-->', '<!--->', '<script></script>', '<style></style', '</a x=">">']],
  ['a page\'s text',                 (text) => readText(text),                                                ['<p>', '<p> ', '&', '&#', '&#x', '&am', '&notin', ' a', '  a', '\u3000']],
  ['a script',                       (text) => document(`<script>${text}`),                                   ['<!--', '-->', '<script', '<script>', '</script', '<!-- <script></script>', '<!--<script ']],
  ['a script in a comment',          (text) => document(`<script><!--${text}`),                               ['<!--', '-->', '<script', '<script>', '</script', '--', '<scrip', '</scrip']],
  ['a style',                        (text) => document(`<style>${text}`),                                    ['</', '</style', '</styl', '<']],
  ['a title',                        (text) => document(`<title>${text}`),                                    ['&', '&#', ' ', '</title', '\ud83d']],
  ['an address',                     (text) => document(`<a href="${text.replaceAll('"', '')}">`),            ['a', 'http:', 'a:', '#', '&amp', '\0', '\u0001']],
  ['many addresses',                 (text) => document(`<a href="${text.slice(0, 60_000).replaceAll('"', '')}">`.repeat(16)), ['a', 'http:', 'a:', 'a+', '#', '&amp', '\0', '\u0001', '/a', '/.', '/%2e']],
  ['many canonical addresses',       (text) => document(`<link rel=canonical href="${text.slice(0, 60_000).replaceAll('"', '')}">`.repeat(16)), ['a', ' ', '\0', 'http://']],
  ['the rel of a link',              (text) => document(`<a href=x rel="${text.slice(0, 60_000).replaceAll('"', '')}">`.repeat(16)), ['nofollow', 'nofollow ', 'a ']],
  ['directives for robots',          (text) => [isRobotsMeta(text), forbidsFollowing(text)],                  ['robots', 'nofollow,', 'a:', 'a: ,', 'unavailable_after:']],
  ['a template\'s mode',             (text) => document(`<template shadowrootmode="${text.replaceAll('"', '')}">`), ['open', 'closed']],
  ['an annotation\'s encoding',      (text) => document(`<math><annotation-xml encoding="${text.replaceAll('"', '')}">`), ['text/html', 'application/xhtml+xml']],
  ['a link',                         (text) => resolveLink(text, BASE),                                       ['/', '/a', '/.', '/%2e', 'http://', '//', '?', '#', '@', '%41', '%4']],
  ['the content of a record',        (text) => recordJson(doneRecord('http://a.test/', { content: fill(text.slice(0, 100)).repeat(5) })), ['\ud800', '\u0001']],
];

describe.each(READERS)('%s is read in linear time', (_, read, prefixes) => {
  test.each([...prefixes, ...COMMON].map((piece) => [JSON.stringify(piece), piece]))(
    'even if it only repeats %s',
    (__, piece) => {
      expectCpuBelow(LIMIT_S, () => read(fill(piece)));
    },
  );
});
