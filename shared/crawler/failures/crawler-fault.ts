/** A step asked for something that can't be done. `too_large`: only its size is the problem. */
export class CrawlerFault extends Error {
  override readonly name = 'CrawlerFault';
  readonly reason: 'step' | 'schema' | 'too_large';

  constructor(message: string, reason: CrawlerFault['reason'] = 'step') {
    super(message);
    this.reason = reason;
  }
}
