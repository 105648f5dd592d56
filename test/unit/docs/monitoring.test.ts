import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Returns the names of a Compose file's services: the keys that are indented by two below `services:`. */
function servicesOf(file: string): string[] {
  const [, services = ''] = readFileSync(file, 'utf8').split(/^services:$/m);
  const [own = ''] = services.split(/^\S/m);
  return [...own.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => String(name));
}

test('the commands that start Prometheus and Grafana name their services, so that `up` leaves the number of workers alone', () => {
  const own = servicesOf('docker-compose.monitoring.yml');
  expect([own, servicesOf('docker-compose.yml')]).toEqual([
    ['prometheus', 'grafana'],
    expect.arrayContaining(['scraper', 'api', 'redis']),
  ]);
  const text = ['docs/operations.md', 'docker-compose.monitoring.yml']
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const commands = [...text.matchAll(/-f docker-compose\.monitoring\.yml up -d(.*)$/gm)].map(([, rest]) =>
    String(rest).trim(),
  );
  expect(commands.length).toBe(2);
  for (const named of commands) expect(own).toEqual(expect.arrayContaining(named.split(' ')));
  const [, ...dependencies] = readFileSync('docker-compose.monitoring.yml', 'utf8').split(/depends_on:\n/);
  expect(dependencies.map((text) => text.match(/^ {6}- (\w+)\n/)?.[1])).toEqual(['prometheus']);
});
