import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { ApiServer } from '../../../../services/api/server.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { TestSite } from '../../../support/site.ts';
import { DescribedAnswers } from './http/described-answers.ts';

/** An answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  readonly json: any;
}

export interface Asking {
  readonly method?: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/** Starts an API over the crawls of a new folder, with a client that checks each answer against its OpenAPI description. */
export async function openApi(environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-api-'));
  const settings = settingsFrom({
    flag: {},
    environment: {
      API_PORT: '0',
      OUTPUT_DIR: folder,
      PRIVATE_HOSTS: '127.0.0.0/8',
      RATE_LIMIT: 'none',
      ...environment,
    },
    file: {},
  });
  const server = new ApiServer({ settings, log: silentLog, isLocal: true });
  await server.start();
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const described = new DescribedAnswers(await (await fetch(new URL('/openapi.json', server.url))).json());
  const ask = async (path: string, { method, body, token, headers = {} }: Asking = {}): Promise<Answer> => {
    const response = await fetch(new URL(path, server.url), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    const json = isJson ? JSON.parse(text) : undefined;
    const asked = method ?? (body === undefined ? 'GET' : 'POST');
    const { status, headers: told } = response;
    const [type = ''] = told.get('content-type')?.split(';') ?? [];
    expect(described.problemOf(asked, new URL(response.url).pathname, { status, type, json })).toBeUndefined();
    return { status, headers: told, text, json };
  };
  return { ask, folder, server, settings };
}

/** A site of twenty pages. */
export async function openSite(): Promise<TestSite> {
  const site = new TestSite({ pages: 20 });
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}
