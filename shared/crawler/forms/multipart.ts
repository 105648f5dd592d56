import { createHash } from 'node:crypto';
import type { Field } from './form-fields.ts';

const EMPTY_TYPE = 'application/octet-stream';

/**
 * Encodes fields as `multipart/form-data` (HTML standard, "multipart form data") in UTF-8, and returns the media type with their boundary.
 * The boundary is a hash of the fields, so the same form with the same values is the same request, and no field can contain its boundary.
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
