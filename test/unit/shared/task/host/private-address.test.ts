import { describe, expect, test } from 'vitest';
import { isDenied, NOTHING_PRIVATE, parsePrivateHosts } from '../../../../../shared/task/host/private-address.ts';
import { allowing } from '../../../../support/allowing.ts';

describe('with nothing allowed', () => {
  test.each([
    ['0.0.0.0', 'this host'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.100.100.200', 'metadata: Alibaba'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'metadata: Azure, in a public range'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata: ECS'],
    ['172.16.0.1', 'private'],
    ['172.31.255.254', 'private'],
    ['192.0.0.192', 'metadata: Oracle'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4 relay'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible, which ipaddr.js takes for public'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:7f00:1', 'IPv4-mapped'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b::a00:1', 'NAT64 to a private address'],
    ['64:ff9b::a83f:8110', 'NAT64 to metadata, in a public range'],
    ['64:ff9b:1::a9fe:a9fe', 'NAT64, local prefix'],
    ['64:ff9b:1::808:808', 'NAT64, local prefix'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['3fff::1', 'documentation'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'unique local'],
    ['fd00:ec2::254', 'metadata: AWS'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local, with its interface'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['localhost', 'no address at all'],
    ['127.1', 'no address at all'],
    ['', 'no address at all'],
  ])('%s is denied: %s', (address) => expect(isDenied(address, NOTHING_PRIVATE)).toBe(true));

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '11.0.0.1',
    '100.63.255.255',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.1',
    '192.167.255.255',
    '198.17.255.255',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2606:4700:4700::1111',
    '2606:4700:4700::a9fe:a9fe',
  ])('%s is public', (address) => expect(isDenied(address, NOTHING_PRIVATE)).toBe(false));
});

// biome-ignore format: a table
test.each([
  // PRIVATE_HOSTS        address                host              denied
  ['10.0.0.0/8',          '10.1.2.3',            undefined,        false],
  ['10.0.0.0/8',          '11.1.2.3',            undefined,        false],
  ['10.0.0.0/8',          '192.168.0.1',         undefined,        true],
  ['10.1.2.3',            '10.1.2.3',            undefined,        false],
  ['10.1.2.3',            '10.1.2.4',            undefined,        true],
  ['::ffff:10.0.0.0/104', '10.1.2.3',            undefined,        false],
  ['::ffff:10.1.0.0/112', '10.1.255.1',          undefined,        false],
  ['::ffff:10.1.0.0/112', '10.0.255.1',          undefined,        true],
  ['10.0.0.0/8',          '::ffff:10.1.2.3',     undefined,        false],
  ['fd00::/8',            'fd12::1',             undefined,        false],
  ['[::1]',               '::1',                 undefined,        false],
  ['0.0.0.0/0',           '127.0.0.1',           undefined,        false],
  ['0.0.0.0/0',           '::1',                 undefined,        true],
  ['0.0.0.0/0',           '169.254.169.254',     undefined,        true],
  ['0.0.0.0/0',           '168.63.129.16',       undefined,        true],
  ['169.254.0.0/16',      '169.254.170.2',       undefined,        true],
  ['169.254.169.254',     '169.254.169.254',     undefined,        false],
  ['169.254.169.254/32',  '169.254.169.254',     undefined,        false],
  ['169.254.169.254',     '169.254.170.2',       undefined,        true],
  ['::/0',                '64:ff9b::a9fe:a9fe',  undefined,        true],
  ['::/0',                '64:ff9b::a00:1',      undefined,        false],
  ['10.0.0.0/8',          '64:ff9b::a00:1',      undefined,        true],
  ['::/0',                '2002:a9fe:a9fe::',    undefined,        true],
  ['::/0',                '::a9fe:a9fe',         undefined,        true],
  ['::/0',                'fd00:ec2::254',       undefined,        true],
  ['intranet.local',      '10.1.2.3',            'intranet.local', false],
  ['Intranet.LOCAL.',     '10.1.2.3',            'intranet.local', false],
  ['intranet.local',      '10.1.2.3',            'intranet.local.', false],
  ['intranet.local',      '10.1.2.3',            'elsewhere.local', true],
  ['intranet.local',      '10.1.2.3',            undefined,        true],
  ['intranet.local',      '169.254.169.254',     'intranet.local', true],
])('with %s allowed, %s of %s is denied: %s', (entry, address, host, denied) => {
  expect(isDenied(address, allowing(entry), host)).toBe(denied);
});

test('every invalid entry is reported', () => {
  const wrong = [
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/',
    '127.1',
    '256.1.1.1',
    '*.local',
    'a b',
    'a:80',
    'http://a/',
    '',
  ];
  expect(parsePrivateHosts(['10.0.0.0/8', ...wrong, 'intranet.local'])).toEqual({
    problems: wrong.map(
      (entry) => `"${entry}" is neither an IP address, nor a range such as 10.0.0.0/8, nor a host name`,
    ),
  });
});
