import { expect } from 'vitest';
import { AT_FULL_SPEED } from '../full-speed.ts';
import type { Trawl, Workplace } from './trawl.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
type Json = any;

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
  readonly text: string;
}

/** A `trawl api` process, and a function that sends it requests. */
export interface ApiProcess {
  readonly url: string;
  readonly process: Trawl;
  /** Sends a request; without a method, a POST if there is a body, otherwise a GET. */
  ask(path: string, body?: unknown, headers?: Record<string, string>, method?: string): Promise<ApiAnswer>;
}

/** Starts the API of a fleet. Resolves once it is ready. */
export async function openApi(workplace: Workplace, env: Record<string, string> = {}): Promise<ApiProcess> {
  const process = workplace.start(['api', '--api-port', '0', ...AT_FULL_SPEED], undefined, { env });
  await process.says(/Listening on http/);
  const [url = ''] = /http:\/\/\S+/.exec(process.said) ?? [];
  const ask: ApiProcess['ask'] = async (path, body, headers = {}, method = body === undefined ? 'GET' : 'POST') => {
    const given = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(new URL(path, url), { ...given, headers: { ...type, ...headers } });
    const text = await response.text();
    const json = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  };
  await expect.poll(async () => (await ask('/readyz')).status, { timeout: 20_000 }).toBe(200);
  return { url, process, ask };
}
