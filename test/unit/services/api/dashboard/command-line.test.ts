import { expect, test } from 'vitest';
import { commandLine, flag, localCommand } from '../../../../../services/api/dashboard/src/command-line.ts';
import {
  crawlBody,
  crawlWords,
  EMPTY_CRAWL,
  newWebhookSecret,
  SCOPE_CHOICES,
  seedProblem,
} from '../../../../../services/api/dashboard/src/crawl-form.ts';
import { settingsWith } from '../../../../../services/api/run-request.ts';
import { runRequestSchema } from '../../../../../services/api/schemas/runs.ts';
import { settingsFrom } from '../../../../../shared/settings/settings.ts';
import { SCOPES } from '../../../../../shared/task/url/scope.ts';

test.each([
  [['pause', 'run-1'], 'trawl pause run-1'],
  [['pause', '--all', ...flag('--reason', undefined)], 'trawl pause --all'],
  [['pause', '--all', ...flag('--reason', '')], 'trawl pause --all'],
  [['forget', 'https://example.com/?a=1&b=2'], "trawl forget 'https://example.com/?a=1&b=2'"],
  [['forget', "$(rm -rf ~)'; ls"], "trawl forget '$(rm -rf ~)'\\''; ls'"],
  [['forget', ''], "trawl forget ''"],
  [['forget', "a\u001b[2J\n\u202eb'\\c"], "trawl forget $'a\\U0000001b[2J\\U0000000a\\U0000202eb\\'\\\\c'"],
])('%j is safe to paste', (words, expected) => {
  expect(commandLine(...words)).toBe(expected);
});

test('an empty form requests nothing but seeds', () => {
  const form = { ...EMPTY_CRAWL, seeds: ' https://a.example/ \n\nhttps://b.example/\n' };
  expect(crawlBody(form)).toEqual({ seeds: ['https://a.example/', 'https://b.example/'] });
  expect(crawlWords(form, false)).toEqual(['produce', 'https://a.example/', 'https://b.example/']);
  expect(crawlWords(form, true)).toEqual(['crawl', 'https://a.example/', 'https://b.example/', '--dedup', 'ever']);
});

test('every filled field is in the request and in the command', () => {
  const form = {
    ...EMPTY_CRAWL,
    seeds: 'https://a.example/',
    run: 'spring',
    crawler: 'shop',
    args: 'country=de\nquery=a=b',
    rate: '2/s',
    follow: true,
    maxDepth: '2',
    include: '/news/*',
    fresh: true,
    webhook: 'https://hook.example/',
    webhookSecret: newWebhookSecret(),
  };
  expect(crawlBody(form)).toEqual({
    seeds: ['https://a.example/'],
    run: 'spring',
    crawler: 'shop',
    args: { country: 'de', query: 'a=b' },
    options: { rate: '2/s', follow: true, maxDepth: 2, include: '/news/*', dedup: 'run' },
    webhook: { url: 'https://hook.example/', secret: form.webhookSecret },
  });
  expect(runRequestSchema.safeParse(crawlBody(form)).error).toBeUndefined();
  expect(crawlWords(form, false).slice(2)).toEqual(
    '--run spring --crawler shop --arg country=de --arg query=a=b --rate 2/s --follow --max-depth 2 --include /news/* --fresh'.split(
      ' ',
    ),
  );
});

test('options of links count only while links are followed', () => {
  const form = { ...EMPTY_CRAWL, seeds: 'https://a.example/', maxDepth: '2', scope: 'domain' };
  expect(crawlBody(form)).toEqual({ seeds: ['https://a.example/'] });
});

test.each([
  ['trawl pause run-1', 'trawl pause run-1 --local'],
  ["trawl forget 'https://a.example/?b'", "trawl forget 'https://a.example/?b' --local"],
  ['trawl dlq purge --all', 'trawl dlq purge --all --local'],
  ['trawl crawl https://a.example/', 'trawl crawl https://a.example/'],
  ['trawl records run-1', 'trawl records run-1'],
])('%s for the crawls of this machine', (command, expected) => {
  expect(localCommand(command)).toBe(expected);
});

test('the API accepts every scope that can be chosen', () => {
  expect(SCOPE_CHOICES).toEqual(SCOPES);
  const settings = settingsFrom({ flag: {}, environment: {}, file: {} });
  for (const scope of SCOPE_CHOICES) {
    const form = { ...EMPTY_CRAWL, seeds: 'https://a.example/', follow: true, scope };
    const { options = {} } = runRequestSchema.parse(crawlBody(form));
    expect(settingsWith(settings, options).scope).toBe(scope);
  }
});

test('a seed that is not a URL is named by its line', () => {
  const problemOf = (seeds: string): string | undefined => seedProblem({ seeds });
  expect(problemOf('https://a.example/\n\n  HTTP://b.example \n')).toBeUndefined();
  expect(problemOf('https://a.example/\n\nb.example')).toMatch(/^Line 3 of the seeds: .*, got b\.example$/);
  expect(problemOf('https://a.example/ https://b.example/')).toMatch(/^Line 1 .* one URL/);
  expect(problemOf('')).toBeUndefined();
});
