import { useState } from 'preact/hooks';
import { useAnswer } from '../api/answer.ts';
import type { Crawler } from '../api/answers.ts';
import { useIsLocal, useMay } from '../api/caller.ts';
import { ask, sentenceOf } from '../api/client.ts';
import { commandLine } from '../command-line.ts';
import {
  type CrawlForm,
  crawlBody,
  crawlWords,
  EMPTY_CRAWL,
  newWebhookSecret,
  SCOPE_CHOICES,
  seedProblem,
} from '../crawl-form.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Other } from '../parts/other.tsx';
import { Page } from '../parts/page.tsx';
import { linkTo } from '../route.ts';

/** The form that starts a run, whose producer works in the API's process. */
export function NewCrawl() {
  if (useMay('submit')) return <CrawlFormPage />;
  return (
    <Page title="New crawl">
      <p>Starting a crawl needs a token with the role submit or admin.</p>
    </Page>
  );
}

function CrawlFormPage() {
  const isLocal = useIsLocal();
  const [form, setForm] = useState<CrawlForm>(EMPTY_CRAWL);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const crawlers = useAnswer<{ crawlers: readonly Crawler[] }>('api/crawlers').answer?.crawlers ?? [];
  const set = (change: Partial<CrawlForm>): void => setForm((before) => ({ ...before, ...change }));
  const text = (name: keyof CrawlForm) => ({
    value: String(form[name]),
    onInput: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
  });
  const chosen = crawlers.find(({ name }) => name === form.crawler);
  const start = async (): Promise<void> => {
    const wrong = seedProblem(form);
    setProblem(wrong ?? '');
    if (wrong !== undefined) return;
    setBusy(true);
    try {
      const { run } = await ask<{ run: string }>('POST', 'api/runs', crawlBody(form));
      location.hash = linkTo(['runs', run]);
    } catch (error: unknown) {
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  return (
    <Page title="New crawl">
      <form
        class="new"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void start();
        }}
      >
        <label class="field">
          <span>Seeds</span>
          <textarea rows={5} required spellcheck={false} placeholder="https://www.example.com/" {...text('seeds')} />
          <small>Sites, sitemaps or pages, one a line.</small>
        </label>
        <div class="columns">
          <label class="field">
            <span>Crawler</span>
            <select value={form.crawler} onChange={(event) => set({ crawler: event.currentTarget.value })}>
              <option value="">the default</option>
              {crawlers.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Name of the run</span>
            <input pattern="[a-z0-9][a-z0-9\-]*" maxLength={63} {...text('run')} />
            <small>Optional: lower-case letters, digits, dashes.</small>
          </label>
          <label class="field">
            <span>Rate per host</span>
            <input placeholder="60/min" {...text('rate')} />
            <small>2/s, 60/min, 100/h, none</small>
          </label>
        </div>
        {(chosen?.args.length ?? 0) > 0 && (
          <label class="field">
            <span>Arguments of {form.crawler}</span>
            <textarea rows={2} spellcheck={false} {...text('args')} />
            <small>name=value, one a line. It takes: {chosen?.args.join(', ')}</small>
          </label>
        )}
        <fieldset>
          <legend>Links</legend>
          <label class="check">
            <input
              type="checkbox"
              checked={form.follow}
              onChange={(event) => set({ follow: event.currentTarget.checked })}
            />
            <span>Follow the links of pages</span>
          </label>
          {form.follow && (
            <div class="columns">
              <label class="field">
                <span>Depth</span>
                <input type="number" min={0} placeholder="3" {...text('maxDepth')} />
              </label>
              <label class="field">
                <span>Maximum pages</span>
                <input type="number" min={1} placeholder="100000" {...text('maxPages')} />
              </label>
              <label class="field">
                <span>Scope</span>
                <select value={form.scope} onChange={(event) => set({ scope: event.currentTarget.value })}>
                  {SCOPE_CHOICES.map((scope, index) => (
                    <option key={scope} value={index === 0 ? '' : scope}>
                      {scope}
                    </option>
                  ))}
                </select>
              </label>
              <label class="field">
                <span>Include</span>
                <input placeholder="/news/*, *.html" {...text('include')} />
              </label>
              <label class="field">
                <span>Exclude</span>
                <input placeholder="/login*" {...text('exclude')} />
              </label>
            </div>
          )}
        </fieldset>
        <label class="check">
          <input
            type="checkbox"
            checked={form.fresh}
            onChange={(event) => set({ fresh: event.currentTarget.checked })}
          />
          <span>Also crawl URLs that earlier runs have taken</span>
        </label>
        <label class="field">
          <span>Webhook for the end of the run</span>
          <input
            type="url"
            placeholder="https://…"
            value={form.webhook}
            onInput={({ currentTarget: { value } }) =>
              set({
                webhook: value,
                webhookSecret: form.webhookSecret === '' ? newWebhookSecret() : form.webhookSecret,
              })
            }
          />
          {form.webhook !== '' && <small>Only over HTTP: the command below leaves it out.</small>}
        </label>
        {form.webhook !== '' && (
          <label class="field">
            <span>Secret of the webhook</span>
            <input required spellcheck={false} autocomplete="off" {...text('webhookSecret')} />
            <small>For its receiver, which checks the signature of each delivery. It is not shown again.</small>
          </label>
        )}
        <CommandLine text={commandLine(...crawlWords(form, isLocal))} />
        {problem !== '' && (
          <p class="problem" role="alert">
            <Other>{problem}</Other>
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy || form.seeds.trim() === ''}>
          {isBusy ? 'Starting …' : 'Start'}
        </button>
      </form>
    </Page>
  );
}
