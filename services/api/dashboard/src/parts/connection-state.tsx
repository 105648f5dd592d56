import { useEffect, useState } from 'preact/hooks';
import { SECOND_MS } from '../../../../../shared/task/durations.ts';
import { useLive } from '../api/live.ts';
import { secondsUntil } from '../api/live-feed.ts';

/** Shows whether the figures are live and, if not, why and what happens next. Screen readers read out changes but not the countdown. */
export function ConnectionState() {
  const { feed, snapshot } = useLive();
  const { connection, stores } = snapshot;
  const now = useNow(connection.state === 'away');
  const away = connection.state === 'away' ? connection : undefined;
  const word =
    away !== undefined
      ? 'Away'
      : connection.state === 'live'
        ? stores === undefined
          ? 'Live'
          : 'Degraded'
        : 'Connecting';
  const tone = word === 'Live' ? 'good' : word === 'Connecting' ? 'dim' : 'bad';
  const why = stores ?? away?.why;
  return (
    <>
      <span class={`state ${tone}`} role="status">
        {word}
      </span>
      {why !== undefined && connection.state !== 'connecting' && (
        <div class="away">
          <span role="alert">
            {away === undefined && `${sentence(why)}. Everything that needs it waits.`}
            {away !== undefined && snapshot.fleet !== undefined && `No new figures: ${why}. These are the last ones.`}
            {away !== undefined && snapshot.fleet === undefined && `${sentence(why)}. Figures appear once it is back.`}
          </span>{' '}
          {away?.triesAt !== undefined && (
            <>
              <span aria-hidden="true">Next try in {secondsUntil(away.triesAt, now)} s.</span>{' '}
              <button type="button" class="small" onClick={() => feed.connect()}>
                Try now
              </button>
            </>
          )}
        </div>
      )}
    </>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function useNow(isWanted: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isWanted) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isWanted]);
  return now;
}
