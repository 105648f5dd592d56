/** Flags with which nothing slows down a crawl of the test site. */
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
