import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError, messageOf } from '../../../shared/runtime/errors.ts';

/** What a token may do, each what those before it may as well: look; open runs, offer, crawl batches; steer and delete. */
export const ROLES = ['read', 'submit', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who a request comes from. */
export interface Caller {
  /** The token's name. */
  readonly name: string;
  readonly role: Role;
}

/** Who calls an API without tokens, which only this machine can reach. */
export const LOCAL_CALLER: Caller = { name: 'local', role: 'admin' };

/** A shorter secret could be guessed. */
const LEAST_SECRET = 16;
/** A secret that only its owner has: `sha256:` and its hash, in hex. */
const HASHED = /^sha256:[0-9a-f]{64}$/;
const NAME = /^[a-z0-9][a-z0-9_.-]{0,62}$/i;
const EXAMPLE = 'name:role:secret, with a role of read, submit or admin';

export function mayDo(caller: Caller, role: Role): boolean {
  return ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

interface StoredToken extends Caller {
  /** SHA-256 of the secret: no secret is kept. */
  readonly hash: Buffer;
}

/** The tokens of an API. It keeps their hashes, and compares these in constant time. */
export class Tokens {
  readonly #tokens: readonly StoredToken[];

  private constructor(tokens: readonly StoredToken[]) {
    this.#tokens = tokens;
  }

  /**
   * Reads `name:role:secret` texts.
   *
   * @throws ConfigurationError with every problem, and without any secret
   */
  static read(texts: readonly string[], source: string): Tokens {
    const problems: string[] = [];
    const tokens: StoredToken[] = [];
    for (const [at, text] of texts.entries()) {
      const [, name = '', role = '', secret = ''] = /^([^:]*):([^:]*):(.*)$/.exec(text) ?? [];
      const known = ROLES.find((each) => each === role);
      if (!NAME.test(name) || known === undefined)
        problems.push(`${source}: expected token ${at + 1} to be ${EXAMPLE}`);
      else if (secret.length < LEAST_SECRET && !HASHED.test(secret))
        problems.push(`${source}: expected the secret of token ${name} to have ${LEAST_SECRET} characters or more`);
      else if (tokens.some((each) => each.name === name)) problems.push(`${source}: token ${name} is there twice`);
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

  /** Whose secret this is. Every token is compared, however early one fits. */
  callerOf(secret: string): Caller | undefined {
    const hash = hashOf(secret);
    let found: StoredToken | undefined;
    for (const token of this.#tokens) if (timingSafeEqual(token.hash, hash)) found = token;
    return found === undefined ? undefined : { name: found.name, role: found.role };
  }

  /** Signs a text for a session of this token: whoever changes or removes the token ends its sessions. */
  sign(name: string, text: string): string | undefined {
    const token = this.#tokens.find((each) => each.name === name);
    return token && createHmac('sha256', token.hash).update(`session ${text}`).digest('base64url');
  }

  roleOf(name: string): Role | undefined {
    return this.#tokens.find((each) => each.name === name)?.role;
  }
}

/** The tokens of `API_TOKENS` and of the file of `API_TOKENS_FILE`: one a line, or comma-separated. */
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
 * Makes a first token, of an admin, where a file of tokens was named that isn't there, and there are no others. Returns its secret: only
 * its hash is kept.
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
    throw new ConfigurationError([`API_TOKENS_FILE: ${file} can't be made: ${messageOf(error)}`], { cause: error });
  }
  return secret;
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
