import { expect, test } from 'vitest';
import { refusalOf } from '../../../../shared/transports/rabbitmq/declaring.ts';

test('a limit on the queues of a virtual host is to be raised: no queue is to be deleted, nor renamed', () => {
  const said = "PRECONDITION_FAILED - cannot declare queue 'failed_urls': queue limit in vhost 'lq' (2) is reached";
  expect(refusalOf(new Error(said), 'failed_urls')).toMatch(
    /: queue limit in vhost .*\. Raise the limit \(rabbitmqctl set_vhost_limits/,
  );
  expect(refusalOf(new Error(said), 'failed_urls')).not.toMatch(/delete|QUEUE_PREFIX/);
});
