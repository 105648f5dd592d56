import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { AnswerHeads } from '../../../../shared/fetchers/answer-heads.ts';
import { MOST_HEADER_BYTES } from '../../../../shared/fetchers/fetcher-options.ts';

/** Returns what the parser of a connection gets from these chunks. */
function handedOver(...chunks: readonly string[]): string {
  const given: Buffer[] = [];
  const socket = Object.assign(new Socket(), {
    push(chunk: Buffer): boolean {
      given.push(chunk);
      return true;
    },
  });
  AnswerHeads.expect(socket, true);
  for (const chunk of chunks) socket.push(Buffer.from(chunk));
  return Buffer.concat(given).toString();
}

const BODY = 'x'.repeat(MOST_HEADER_BYTES);

test.each([
  ['a line that is no header', 'HTTP/1.1 200 OK\r\nno colon\r\n', 'content-type: text/html\r\n\r\n'],
  ['an interim answer', 'HTTP/1.1 100 Continue\r\n', '\r\nHTTP/1.1 200 OK\r\ncontent-type:text/html\r\n\r\n'],
])('a head with %s is repaired even if its end arrives with much of the body', (_, start, end) => {
  const read = handedOver(start, end + BODY);
  expect(read.slice(0, -BODY.length).replace(': ', ':')).toBe('HTTP/1.1 200 OK\r\ncontent-type:text/html\r\n\r\n');
  expect(read.endsWith(BODY)).toBe(true);
});

test('a head that is too long is left to the parser, which refuses it', () => {
  const head = `HTTP/1.1 200 OK\r\nno colon\r\nx: ${BODY}`;
  expect(handedOver(head.slice(0, 20), head.slice(20))).toBe(head);
});
