import { copyFile, rm } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { openApi } from '../support/processes/api-process.ts';
import { openWorkplace, type Workplace } from '../support/processes/trawl.ts';
import { CLIENT_NAME, type TlsServers, tlsServers } from '../support/servers/tls-servers.ts';
import { TestSite } from '../support/site.ts';
import { uniquePrefix } from '../support/stores/rabbitmq.ts';

const servers = tlsServers();

/** The settings of both servers, given by the ends of their names. */
function forBoth(settings: Readonly<Record<string, string>>): Record<string, string> {
  const names = ['RABBITMQ', 'REDIS'];
  return Object.fromEntries(
    names.flatMap((name) => Object.entries(settings).map(([end, value]) => [`${name}_${end}`, value])),
  );
}

function given({ rabbitmqUrl, redisUrl, files }: TlsServers): Record<string, string> {
  const { ca: CA_FILE, cert: CERT_FILE, key: KEY_FILE } = files;
  return { RABBITMQ_URL: rabbitmqUrl, REDIS_URL: redisUrl, ...forBoth({ CA_FILE, CERT_FILE, KEY_FILE }) };
}

async function setup(env: Readonly<Record<string, string>> = {}): Promise<Workplace> {
  const prefix = uniquePrefix();
  return await openWorkplace({
    ...given(servers()),
    ...{ KEY_PREFIX: prefix, QUEUE_PREFIX: prefix, LOG_FORMAT: 'pretty' },
    ...env,
  });
}

async function troubles(workplace: Workplace, env: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await workplace.start(['doctor'], undefined, { env }).ended;
  return stdout + stderr;
}

describe('servers that require TLS and client certificates', () => {
  test('workers, producers, the API, doctor and dlq commands can connect', async () => {
    const workplace = await setup({ CACHE_REDIS_URL: `${servers().redisUrl}/1` });
    const site = new TestSite({ pages: 5 });
    await site.start();
    onTestFinished(() => site.stop());
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    await worker.says(/consuming/);
    const urls = [site.url('/page/1'), site.url('/status/404')];
    const summary = await workplace.json(['produce', '-', '--wait', '--fresh', ...AT_FULL_SPEED], urls.join('\n'));
    expect(summary).toMatchObject({ state: 'finished', done: 1, failed: 1 });
    const { stdout } = await workplace.run(['dlq', 'list']);
    expect(stdout).toContain('http_4xx');
    const api = await openApi(workplace);
    expect((await api.ask('/api/workers')).text).toContain('consuming');
    const doctor = await workplace.run(['doctor']);
    expect(doctor.stdout).not.toMatch(/problem|response cache: .* without it/);
    expect(worker.said).not.toContain('connection lost');
  });

  test('doctor reports each kind of TLS refusal, for both servers, with the setting that fixes it', async () => {
    const { redisUrl, rabbitmqUrl, files, redis, rabbitmq, stranger } = servers();
    const workplace = await setup();
    const byLocalName = { REDIS_URL: redisUrl, RABBITMQ_URL: rabbitmqUrl };
    for (const name of ['REDIS_URL', 'RABBITMQ_URL'] as const)
      byLocalName[name] = byLocalName[name].replace('127.0.0.1', 'localhost');
    const withoutFiles = forBoth({ CA_FILE: '', CERT_FILE: '', KEY_FILE: '' });
    const withoutTls = {
      REDIS_URL: redisUrl.replace('rediss', 'redis'),
      RABBITMQ_URL: rabbitmqUrl.replace('amqps', 'amqp'),
    };
    const withoutTlsThere = {
      REDIS_URL: redis.url.replace('redis', 'rediss'),
      RABBITMQ_URL: rabbitmq.url.replace('amqp', 'amqps'),
    };
    // biome-ignore format: a table
    const rows: readonly (readonly [Record<string, string>, RegExp])[] = [
      [withoutFiles, /has a certificate that is not trusted: .* Name a file with its issuer \(PEM\): X_CA_FILE=ca\.pem/],
      [forBoth({ CA_FILE: stranger.cert }), /has a certificate that is not trusted: .* Its issuer is not in X_CA_FILE/],
      [forBoth({ CERT_FILE: '', KEY_FILE: '' }), /requires a client certificate: .*\. Set X_CERT_FILE and X_KEY_FILE/],
      [forBoth({ CERT_FILE: stranger.cert, KEY_FILE: stranger.key }), /refuses the client certificate: .*\. Check X_CERT_FILE: the server must trust its issuer/],
      [byLocalName, /has a certificate for another name: .*\. Its address in X_URL must be a name in the certificate/],
      [{ ...withoutFiles, ...withoutTls }, /speaks TLS: .*\. Check X_URL: (rediss|amqps):\/\/ is with TLS/],
      [withoutTlsThere, /speaks no TLS: .*\. Check X_URL: (redis|amqp):\/\/ is without TLS/],
    ];
    expect(files.ca).toMatch(/\.pem$/);
    const told = await Promise.all(rows.map(async ([env]) => await troubles(workplace, env)));
    for (const [at, [, said]] of rows.entries())
      for (const server of ['Redis', 'RabbitMQ']) {
        const line = said.source.replaceAll('X_', `${server.toUpperCase()}_`);
        expect(told[at]).toMatch(new RegExp(`problem {2}${server}: ${server} at \\S+ ${line}`));
      }
  });

  test('a client certificate logs in to RabbitMQ if a user of its name exists', async () => {
    const { rabbitmq, rabbitmqUrl } = servers();
    const url = `${rabbitmqUrl.replace('guest:guest@', '')}?auth_mechanism=external`;
    const workplace = await setup({ RABBITMQ_URL: url });
    expect(await troubles(workplace, {})).toMatch(
      /problem {2}RabbitMQ: .* refuses the user that the client certificate names: .*Check RABBITMQ_CERT_FILE/,
    );
    await rabbitmq.ctl('add_user', CLIENT_NAME, 'sesame');
    await rabbitmq.ctl('set_permissions', CLIENT_NAME, '.*', '.*', '.*');
    expect(await troubles(workplace, {})).toMatch(/ok {7}RabbitMQ: answers/);
  });

  test('a refused command ends at once, while a refused worker keeps trying', async () => {
    const workplace = await setup(forBoth({ CERT_FILE: '', KEY_FILE: '' }));
    const status = await workplace.run(['status']);
    expect([status.code, status.stderr]).toEqual([
      78,
      expect.stringContaining('Set REDIS_CERT_FILE and REDIS_KEY_FILE'),
    ]);
    const worker = workplace.start(['work']);
    await worker.says(/Attempt 2 failed:.*Redis at .* requires a client certificate/);
    await worker.says(/Attempt 2 failed:.*RabbitMQ at .* requires a client certificate/);
  });

  test('a certificate file that is replaced is used from the next connection on', async () => {
    const { files, redis, rabbitmq, stranger } = servers();
    const workplace = await setup();
    const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => `${workplace.folder}/${name}.pem`) as [
      string,
      string,
      string,
    ];
    await Promise.all([copyFile(files.ca, ca), copyFile(stranger.cert, cert), copyFile(stranger.key, key)]);
    const env = forBoth({ CA_FILE: ca, CERT_FILE: cert, KEY_FILE: key });
    const worker = workplace.start(['work'], undefined, { env });
    await worker.says(/Attempt 1 failed:.*Redis at .* refuses the client certificate/);
    await worker.says(/Attempt 1 failed:.*RabbitMQ at .* refuses the client certificate/);
    await Promise.all([copyFile(files.cert, cert), copyFile(files.key, key)]);
    await worker.says(/INFO: consuming/);
    await copyFile(stranger.cert, ca);
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await rabbitmq.ctl('close_all_connections', 'a test');
    for (const server of ['Redis', 'RabbitMQ'])
      await worker.says(
        new RegExp(`trying again: ${server} has a certificate that is not trusted: .*${server.toUpperCase()}_CA_FILE`),
      );
    await copyFile(files.ca, ca);
    for (const server of ['Redis', 'RabbitMQ']) await worker.says(new RegExp(`connected again after .*: ${server}`));
    // A file that can't be read for now keeps its last content.
    await rm(key);
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => worker.said.match(/connected again after .*: Redis/g)?.length).toBe(2);
  });
});
