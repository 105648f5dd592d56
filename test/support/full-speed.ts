/** Flags of a crawl of the test site that nothing slows down. */
export const AT_FULL_SPEED = [
  '--rate',
  'none',
  '--host-concurrency',
  'none',
  '--private-hosts',
  '127.0.0.0/8',
  '--robots',
  'ignore',
];
