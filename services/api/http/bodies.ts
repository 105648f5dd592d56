import { isUtf8 } from 'node:buffer';
import type { Api } from '../parts.ts';
import { Problem, wrongMediaType } from './problem.ts';

/** Adds the body parsers. Only uncompressed JSON in UTF-8 is accepted; anything else is refused rather than guessed at. */
export function addBodyParsers(app: Api): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addHook('preParsing', async ({ headers }, reply) => {
    const {
      'content-encoding': coding = 'identity',
      'content-length': length = '0',
      'transfer-encoding': sent,
    } = headers;
    // An empty body needs no decoding.
    const hasBody = length !== '0' || sent !== undefined;
    if (!hasBody || coding.toLowerCase() === 'identity') return;
    // The connection closes because nothing reads the rest of the body.
    reply.header('accept-encoding', 'identity').header('connection', 'close');
    throw new Problem('unsupported_media_type', `expected a body without Content-Encoding, got ${coding}`);
  });
  // Some clients name a content type even when they send no body.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined);
    // A Latin-1 URL decoded as UTF-8 would become a different URL.
    else if (!isUtf8(body)) done(new Problem('usage', 'expected a body in UTF-8'));
    else parse(request, body.toString(), (error, read) => done(error, withoutNulls(read)));
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined);
    else done(wrongMediaType());
  });
}

/** Drops fields that are `null`: some programs send it for every field they leave unset. It has no meaning for any field. */
function withoutNulls(body: unknown): unknown {
  if (!isObject(body)) return body;
  for (const fields of [body, ...Object.values(body).filter(isObject)])
    for (const [name, value] of Object.entries(fields)) if (value === null) delete fields[name];
  return body;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
