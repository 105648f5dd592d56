const { FETCHER } = process.env;

/** For processes that a test starts: `FETCHER=undici vitest run …` has them fetch by the lean lane. */
export const LANE_SETTINGS: Readonly<Record<string, string>> = FETCHER === undefined ? {} : { FETCHER };
