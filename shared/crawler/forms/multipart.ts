import { createHash } from 'node:crypto';
import type { Field } from './form-fields.ts';

const EMPTY_TYPE = 'application/octet-stream';

/**
 * Fields as `multipart/form-data` (HTML standard, "multipart form data"), in UTF-8, with the type that names their boundary. That is made of the
 * fields: the same form, filled in alike, is the same request, and nobody can write a field that ends early.
 */
export function multipartOf(fields: readonly Field[]): { readonly type: string; readonly body: string } {
  const hash = createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 32);
  const boundary = `----TrawlForm${hash}`;
  const parts = fields.map((field) => `--${boundary}\r\n${partOf(field)}\r\n`).join('');
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${parts}--${boundary}--\r\n` };
}

function partOf([name, value]: Field): string {
  const head = `Content-Disposition: form-data; name="${quoted(name)}"`;
  if (typeof value === 'string') return `${head}\r\n\r\n${value.replaceAll(/\r\n?|\n/g, '\r\n')}`;
  const { filename, text, type = EMPTY_TYPE } = value;
  return `${head}; filename="${quoted(filename)}"\r\nContent-Type: ${type}\r\n\r\n${text}`;
}

function quoted(text: string): string {
  return text
    .replaceAll(/\r\n?|\n/g, '\r\n')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
    .replaceAll('"', '%22');
}
