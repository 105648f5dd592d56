import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf } from '../../../shared/runtime/errors.ts';
import { ANSWER_HEADERS } from './answer-headers.ts';
import { answersUnderWay } from './answers-under-way.ts';
import { PROBLEM_TYPE, Problem, problemText } from './problem.ts';

/** Connections that end with the answers under way. Node reports each further piece of what it can't read. */
const ending = new WeakSet<Socket>();

/**
 * Answers a request that is not valid HTTP or did not come in time with a problem, like any other, and hangs up. If earlier requests of the
 * connection were read in full, hangs up once they are answered instead: the client would take the problem for an answer to them.
 */
export function answerUnread(error: Error, socket: Socket): void {
  if (codeOf(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const earlier = answersUnderWay(socket).filter(({ request }) => request.complete);
  const last = earlier.at(-1)?.answer;
  if (last !== undefined) {
    // An answer that is being sent might be an endless stream of events.
    if (earlier.some(({ answer }) => answer.headersSent)) socket.destroy();
    else if (!ending.has(socket)) last.once('close', () => socket.destroySoon());
    ending.add(socket);
    return;
  }
  const problem = problemOfUnread(codeOf(error));
  const { status } = problem;
  const text = problemText(problem);
  const headers = {
    ...ANSWER_HEADERS,
    'cache-control': 'no-store',
    connection: 'close',
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(text),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`, () => socket.destroy());
}

function problemOfUnread(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('timeout', 'the request did not come in time');
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers_too_large', 'the headers are too large');
  return new Problem('usage', 'the request is not valid HTTP, or incomplete');
}
