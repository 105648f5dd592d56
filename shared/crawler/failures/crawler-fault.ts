/** What a step said can't be done as it stands. `too_large`: it is a matter of size alone. */
export class CrawlerFault extends Error {
  override readonly name = 'CrawlerFault';
  readonly reason: 'step' | 'schema' | 'too_large';

  constructor(message: string, reason: CrawlerFault['reason'] = 'step') {
    super(message);
    this.reason = reason;
  }
}
