import { expect, test } from 'vitest';
import { toFetchError } from '../../../../shared/fetchers/error-codes.ts';
import { FetchError } from '../../../../shared/ports/fetcher.ts';

test.each([
  ['ETIMEDOUT', 'timeout'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'timeout'],
  ['ENOTFOUND', 'nxdomain'],
  ['EAI_AGAIN', 'dns'],
  ['EAI_FAIL', 'dns'],
  ['ESERVFAIL', 'dns'],
  ['EPROTO', 'tls'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
  ['CERT_HAS_EXPIRED', 'tls'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
  ['ECONNREFUSED', 'connection'],
  ['ECONNRESET', 'connection'],
  ['EPIPE', 'connection'],
  ['EHOSTUNREACH', 'connection'],
  ['ENETUNREACH', 'connection'],
  ['HPE_INVALID_CONSTANT', 'connection'],
  ['HPE_HEADER_OVERFLOW', 'connection'],
  ['ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'connection'],
  ['EMFILE', 'exhausted'],
  ['Z_DATA_ERROR', 'encoding'],
  ['Z_BUF_ERROR', 'encoding'],
  ['ZSTD_error_prefix_unknown', 'encoding'],
  ['ERR__ERROR_FORMAT_PADDING_1', 'encoding'],
  ['ERR_INVALID_URL', 'bad_url'],
  ['ERR_PRIVATE_ADDRESS', 'private_address'],
  ['ERR_PROXY', 'proxy'],
  ['SOMETHING_NEW', 'connection'],
])('the error code %s means %s', (code, reason) => {
  const thrown = Object.assign(new Error('no luck'), { code });
  expect(toFetchError(thrown, 200)).toMatchObject({ reason, message: 'no luck', cause: thrown, status: 200 });
});

test('the innermost cause with a known code decides', () => {
  const cause = Object.assign(new Error('it took too long'), { code: 'ETIMEDOUT', cause: new Error('because') });
  const thrown = Object.assign(new Error('reading failed', { cause }), { code: 'ECONNRESET' });
  expect(toFetchError(thrown)).toMatchObject({ reason: 'timeout', message: 'it took too long' });
});

test('a fetch error stays what it is, however it was wrapped', () => {
  const made = new FetchError('size', 'too long', { status: 200 });
  expect(toFetchError(made)).toBe(made);
  expect(toFetchError(new Error('too long', { cause: made }))).toBe(made);
});

test('a thrown value that is no error becomes the message', () => {
  expect(toFetchError('gone')).toMatchObject({ reason: 'connection', message: 'gone' });
});
