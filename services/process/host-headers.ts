import { readFile } from 'node:fs/promises';
import { ConfigurationError, messageOf } from '../../shared/runtime/errors.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { HostHeaders, parseHostHeaders } from '../../shared/task/host/host-headers.ts';

/** Headers given in place of a file's name, as curl accepts them. They may be secret, so they are not repeated. */
const LOOKS_LIKE_HEADERS = /^\s*(?:\{|[\w-]{2,}:)/;
const NO_FILE =
  'HOST_HEADERS (--host-headers): expected the name of a JSON file like {"example.com": {"authorization": "Bearer …"}}, got headers';

/**
 * Returns the headers that a deployment sends to certain hosts: those of its `HOST_HEADERS` file.
 *
 * @throws ConfigurationError with every problem of the file, and none of its values
 */
export async function hostHeadersOf({ hostHeaders: file }: Pick<Settings, 'hostHeaders'>): Promise<HostHeaders> {
  if (file === '') return HostHeaders.none;
  if (LOOKS_LIKE_HEADERS.test(file)) throw new ConfigurationError([NO_FILE]);
  const parsed = parseHostHeaders(jsonOf(await textOf(file), file));
  if (!('problems' in parsed)) return parsed;
  throw new ConfigurationError(parsed.problems.map((problem) => `HOST_HEADERS: ${file}: ${problem}`));
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error: unknown) {
    throw new ConfigurationError([`HOST_HEADERS: ${file} can't be read: ${messageOf(error)}`], { cause: error });
  }
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the text, which may be a secret.
    throw new ConfigurationError([`HOST_HEADERS: ${file} is not JSON`]);
  }
}
