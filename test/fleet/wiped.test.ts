import { expect, inject, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { allPages, openFleet, pagesFetched } from '../support/processes/fleet.ts';
import { deleteTopology } from '../support/stores/rabbitmq.ts';

test('doctor reports a wiped RabbitMQ, its --release makes the queued URLs wait again, and each page is fetched once', async () => {
  const { workplace, site, queuePrefix } = await openFleet({ pages: 300 }, { QUEUE_TYPE: 'classic' });
  const told = await workplace.json(['produce', site.url('/sitemap.xml'), ...AT_FULL_SPEED]);
  expect(told).toMatchObject({ inFlight: 300, waiting: 0 });
  await deleteTopology(inject('rabbitmqUrl'), queuePrefix);
  expect((await workplace.run(['doctor'])).stdout).toContain(
    'warning  RabbitMQ: has none of 300 URLs that it was given, and no worker has any in hand. If a queue was purged, lost or cut short, workers bring them back within a few minutes; at once: ',
  );
  const doctor = await workplace.run(['doctor', '--release']);
  expect(doctor.stdout).toBe('300 queued URLs waiting again; any of their deliveries that are left will be dropped\n');
  expect(await workplace.json(['doctor', '--release'])).toEqual({ released: 0 });
  expect((await workplace.run(['doctor'])).stdout).not.toContain('that it was given');
  expect(await workplace.json(['status', told.run])).toMatchObject({ inFlight: 0, waiting: 300 });
  const worker = await workplace.run(['work', '--exit-when-idle', ...AT_FULL_SPEED]);
  expect(worker.code).toBe(0);
  expect(await workplace.json(['status', told.run])).toMatchObject({ state: 'finished', done: 300 });
  expect(pagesFetched(site).toSorted()).toEqual(allPages(300).toSorted());
});
