import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError, messageOf } from '../../../shared/runtime/errors.ts';

/**
 * Roles of tokens. Each can do everything that the ones before it can.
 *
 * | role | allows |
 * |---|---|
 * | `read` | view everything |
 * | `submit` | open runs, offer URLs, crawl batches |
 * | `admin` | steer and delete |
 */
export const ROLES = ['read', 'submit', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The caller of a request. */
export interface Caller {
  /** The token's name. */
  readonly name: string;
  readonly role: Role;
}

/** The caller of an API without tokens, which only this machine can reach. */
export const LOCAL_CALLER: Caller = { name: 'local', role: 'admin' };

/** A shorter secret could be guessed. */
const LEAST_SECRET = 16;
/** A secret given as its hash only: `sha256:` and the hash in hex. */
const HASHED = /^sha256:[0-9a-f]{64}$/i;
/** A mistyped hash must not count as a secret: everybody who may read it could use it. */
const MEANT_AS_HASH = /^sha256:/i;
const NAME = /^[a-z0-9][a-z0-9_.-]{0,62}$/i;
const EXAMPLE = 'name:role:secret, with a role of read, submit or admin';

export function mayDo(caller: Caller, role: Role): boolean {
  return ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

interface StoredToken extends Caller {
  /** SHA-256 of the secret. The secret itself is not kept. */
  readonly hash: Buffer;
}

/** The tokens of an API, kept as hashes and compared in constant time. */
export class Tokens {
  readonly #tokens: readonly StoredToken[];

  private constructor(tokens: readonly StoredToken[]) {
    this.#tokens = tokens;
  }

  /**
   * Reads `name:role:secret` texts.
   *
   * @throws ConfigurationError with every problem. No message contains a secret
   */
  static read(texts: readonly string[], source: string): Tokens {
    const problems: string[] = [];
    const tokens: StoredToken[] = [];
    for (const [at, text] of texts.entries()) {
      const [, name = '', role = '', secret = ''] = /^([^:]*):([^:]*):(.*)$/.exec(text) ?? [];
      const known = ROLES.find((each) => each === role);
      if (!NAME.test(name) || known === undefined)
        problems.push(`${source}: expected token ${at + 1} to be ${EXAMPLE}`);
      else if (MEANT_AS_HASH.test(secret) && !HASHED.test(secret))
        problems.push(`${source}: expected the hash of token ${name} to be sha256: and 64 hex digits`);
      else if (secret.length < LEAST_SECRET)
        problems.push(`${source}: expected the secret of token ${name} to have ${LEAST_SECRET} characters or more`);
      else if (tokens.some((each) => each.name === name)) problems.push(`${source}: token name ${name} is used twice`);
      else
        tokens.push({
          name,
          role: known,
          hash: HASHED.test(secret) ? Buffer.from(secret.slice(7), 'hex') : hashOf(secret),
        });
    }
    if (problems.length > 0) throw new ConfigurationError(problems);
    return new Tokens(tokens);
  }

  get isEmpty(): boolean {
    return this.#tokens.length === 0;
  }

  /** Returns the caller with this secret. Compares every token even after a match, which keeps the time constant. */
  callerOf(secret: string): Caller | undefined {
    const hash = hashOf(secret);
    let found: StoredToken | undefined;
    for (const token of this.#tokens) if (timingSafeEqual(token.hash, hash)) found = token;
    return found === undefined ? undefined : { name: found.name, role: found.role };
  }

  /** Signs a text for a session of this token. Changing or removing the token ends its sessions. */
  sign(name: string, text: string): string | undefined {
    const token = this.#tokens.find((each) => each.name === name);
    return token && createHmac('sha256', token.hash).update(`session ${text}`).digest('base64url');
  }

  roleOf(name: string): Role | undefined {
    return this.#tokens.find((each) => each.name === name)?.role;
  }
}

/** Reads the tokens of `API_TOKENS` and of the file `API_TOKENS_FILE`, which has one a line or a comma-separated list. */
export function readTokens({ texts, file }: { readonly texts: readonly string[]; readonly file: string }): Tokens {
  if (file === '' || (texts.length > 0 && !existsSync(file))) return Tokens.read(texts, 'API_TOKENS');
  try {
    const lines = readFileSync(file, 'utf8').split(/[\n,]/);
    const others = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
    return Tokens.read([...texts, ...others], 'API_TOKENS, API_TOKENS_FILE');
  } catch (error: unknown) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError([`API_TOKENS_FILE: ${file} can't be read: ${messageOf(error)}`], { cause: error });
  }
}

/**
 * Makes a first token with the role admin if `API_TOKENS_FILE` names a file that doesn't exist and `API_TOKENS` is empty. Returns its
 * secret; the file gets only the hash.
 */
export function makeFirstToken({
  texts,
  file,
}: {
  readonly texts: readonly string[];
  readonly file: string;
}): string | undefined {
  if (file === '' || texts.length > 0 || existsSync(file)) return undefined;
  const secret = randomBytes(24).toString('base64url');
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `admin:admin:sha256:${hashOf(secret).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error: unknown) {
    throw new ConfigurationError([`API_TOKENS_FILE: ${file} can't be created: ${messageOf(error)}`], { cause: error });
  }
  return secret;
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
