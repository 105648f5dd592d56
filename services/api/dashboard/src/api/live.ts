import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { LiveFeed, type Snapshot } from './live-feed.ts';

/** The one feed of the page, with its present data. */
export interface Live {
  readonly feed: LiveFeed;
  readonly snapshot: Snapshot;
}

const none = new LiveFeed();
export const LiveContext = createContext<Live>({ feed: none, snapshot: none.snapshot });

export function useLive(): Live {
  return useContext(LiveContext);
}

/** Runs the feed for as long as the page is open. */
export function useLiveFeed(): Live {
  const [feed] = useState(() => new LiveFeed());
  const [snapshot, setSnapshot] = useState(feed.snapshot);
  useEffect(() => {
    const leave = feed.subscribe(() => setSnapshot(feed.snapshot));
    feed.start();
    return () => {
      leave();
      feed.stop();
    };
  }, [feed]);
  return { feed, snapshot };
}
