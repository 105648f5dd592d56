import { useContext, useEffect, useState } from 'preact/hooks';
import { useAnswer } from './api/answer.ts';
import type { Caller } from './api/answers.ts';
import { CallerContext } from './api/caller.ts';
import { ask, sentenceOf } from './api/client.ts';
import { LiveContext, useLive, useLiveFeed } from './api/live.ts';
import { Audit } from './pages/audit.tsx';
import { DeadLetter } from './pages/dead-letter.tsx';
import { DeadLetters } from './pages/dead-letters.tsx';
import { Doctor } from './pages/doctor.tsx';
import { Hosts } from './pages/hosts.tsx';
import { LookUp } from './pages/look-up.tsx';
import { NewCrawl } from './pages/new-crawl.tsx';
import { Overview } from './pages/overview.tsx';
import { Run } from './pages/run.tsx';
import { Runs } from './pages/runs.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Workers } from './pages/workers.tsx';
import { type Action, ActionContext } from './parts/action.tsx';
import { ActionDialog } from './parts/action-dialog.tsx';
import { ConnectionState } from './parts/connection-state.tsx';
import { focusOnTitle, Page } from './parts/page.tsx';
import { ThemeButton } from './parts/theme-button.tsx';
import { linkTo, type Route, TOKEN, useRoute } from './route.ts';

const PLACES = [
  { path: '', name: 'Overview' },
  { path: 'runs', name: 'Runs' },
  { path: 'hosts', name: 'Hosts' },
  { path: 'workers', name: 'Workers' },
  { path: 'dead-letters', name: 'Dead letters' },
  { path: 'url', name: 'URL' },
  { path: 'new', name: 'New crawl' },
  { path: 'audit', name: 'Audit' },
  { path: 'doctor', name: 'Doctor' },
] as const;

/** How long the result of an action is shown. */
const RESULT_MS = 8_000;

/** The dashboard: the feed, and either the sign-in form or a page. */
export function App() {
  const live = useLiveFeed();
  const route = useRoute();
  const { connection } = live.snapshot;
  const problem = useTokenOfLink(route, () => live.feed.connect());
  const isSignedOut = connection.state === 'signed out';
  const hasEnded = connection.state === 'signed out' && connection.hasEnded;
  return (
    <LiveContext.Provider value={live}>
      {isSignedOut && (
        <SignIn key={problem} problem={problem} hasEnded={hasEnded} onSignedIn={() => live.feed.connect()} />
      )}
      {/* After an ended session the page is only hidden, so signing in again restores it with everything typed into it. */}
      {(!isSignedOut || hasEnded) && <Frame route={route} isHidden={isSignedOut} />}
    </LiveContext.Provider>
  );
}

/** The navigation, the page and the dialog for actions. */
function Frame({ route, isHidden }: { readonly route: Route; readonly isHidden: boolean }) {
  const caller = useAnswer<Caller>('api/session').answer;
  const [action, setAction] = useState<Action | undefined>(undefined);
  const [result, setResult] = useState('');
  useEffect(() => {
    if (result === '') return;
    const timer = setTimeout(() => setResult(''), RESULT_MS);
    return () => clearTimeout(timer);
  }, [result]);
  useEffect(() => {
    if (!isHidden) return;
    setAction(undefined);
    return focusOnTitle;
  }, [isHidden]);
  return (
    <CallerContext.Provider value={caller}>
      <ActionContext.Provider value={setAction}>
        <div hidden={isHidden}>
          <button type="button" class="skip" onClick={focusOnTitle}>
            Skip to content
          </button>
          <header>
            <a class="brand" href={linkTo([])}>
              Trawl
            </a>
            <Places at={route.path[0] ?? ''} />
            <div class="tools">
              <ConnectionState />
              <ThemeButton />
              <SignOut />
            </div>
          </header>
          <main id="main">
            <Allowed />
            <PageAt route={route} />
          </main>
          <p class="result" role="status">
            {result}
          </p>
        </div>
        {action !== undefined && (
          <ActionDialog key={action.title} action={action} onDone={setResult} onClose={() => setAction(undefined)} />
        )}
      </ActionContext.Provider>
    </CallerContext.Provider>
  );
}

function Places({ at }: { readonly at: string }) {
  return (
    <nav aria-label="Main">
      <ul>
        {PLACES.map(({ path, name }) => (
          <li key={path}>
            <a href={linkTo(path === '' ? [] : [path])} aria-current={at === path ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Explains why buttons are missing. */
function Allowed() {
  const caller = useContext(CallerContext);
  if (caller === undefined || caller.role === 'admin') return null;
  const more = caller.role === 'submit' ? 'read, start crawls and add URLs' : 'only read';
  return (
    <p class="dim">
      Token {caller.name} can {more}. Other actions need the role admin and are hidden.
    </p>
  );
}

function PageAt({ route: { path, query } }: { readonly route: Route }) {
  const [place = '', id] = path;
  switch (place) {
    case '':
      return <Overview />;
    case 'runs':
      return id === undefined ? <Runs /> : <Run key={id} id={id} />;
    case 'hosts':
      return <Hosts />;
    case 'workers':
      return <Workers chosen={id} />;
    case 'dead-letters':
      return id === undefined ? <DeadLetters query={query} /> : <DeadLetter key={id} id={id} />;
    case 'url':
      return <LookUp key={query.get('url')} query={query} />;
    case 'new':
      return <NewCrawl />;
    case 'audit':
      return <Audit />;
    case 'doctor':
      return <Doctor />;
    default:
      return (
        <Page title="Not found">
          <p>
            There is no such page. <a href={linkTo([])}>Overview</a>
          </p>
        </Page>
      );
  }
}

function SignOut() {
  const { feed } = useLive();
  const caller = useContext(CallerContext);
  if (caller?.needsToken !== true) return null;
  return (
    <button type="button" class="small" onClick={() => void feed.signOut()}>
      Sign out {caller.name}
    </button>
  );
}

/** Signs in with the token of a link that the API printed (`#token=…`) and removes it from the address. */
function useTokenOfLink({ path: [first] }: Route, onSignedIn: () => void): string | undefined {
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const token = first?.startsWith(TOKEN) === true ? first.slice(TOKEN.length) : undefined;
  useEffect(() => {
    if (token === undefined) return;
    history.replaceState(null, '', `${location.pathname}${location.search}#/`);
    dispatchEvent(new HashChangeEvent('hashchange'));
    ask('POST', 'api/session', { token }).then(onSignedIn, (error: unknown) => setProblem(sentenceOf(error)));
  }, [token]);
  return problem;
}
