import { isUtf8 } from 'node:buffer';
import type { Api } from '../parts.ts';
import { Problem, wrongMediaType } from './problem.ts';

/** Reads bodies: JSON in UTF-8, as it was written. What is something else is refused, and never guessed at. */
export function addBodyParsers(app: Api): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addHook('preParsing', async ({ headers }, reply) => {
    const {
      'content-encoding': coding = 'identity',
      'content-length': length = '0',
      'transfer-encoding': sent,
    } = headers;
    // What has none needs no decoding.
    const hasBody = length !== '0' || sent !== undefined;
    if (!hasBody || coding.toLowerCase() === 'identity') return;
    // What is left of the body is read by nobody.
    reply.header('accept-encoding', 'identity').header('connection', 'close');
    throw new Problem('unsupported_media_type', `expected a body without Content-Encoding, got ${coding}`);
  });
  // A client that always names a type for its body names one, too, where it sends none.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined);
    // Read as UTF-8 all the same, a Latin-1 URL would be another one.
    else if (!isUtf8(body)) done(new Problem('usage', 'expected a body in UTF-8'));
    else parse(request, body.toString(), (error, read) => done(error, withoutNulls(read)));
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined);
    else done(wrongMediaType());
  });
}

/** Programs that write all their fields send `null` for those that they leave out. No field has a meaning for it. */
function withoutNulls(body: unknown): unknown {
  if (!isObject(body)) return body;
  for (const fields of [body, ...Object.values(body).filter(isObject)])
    for (const [name, value] of Object.entries(fields)) if (value === null) delete fields[name];
  return body;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
