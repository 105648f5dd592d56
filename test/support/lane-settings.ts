const { FETCHER } = process.env;

/** Settings for processes that a test starts: `FETCHER=undici vitest run …` makes them fetch by the lean lane. */
export const LANE_SETTINGS: Readonly<Record<string, string>> = FETCHER === undefined ? {} : { FETCHER };
