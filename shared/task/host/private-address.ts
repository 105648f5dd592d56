import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The private hosts and addresses that may be fetched: the parsed form of `PRIVATE_HOSTS`. */
export interface AllowedPrivate {
  readonly ranges: readonly (readonly [Address, number])[];
  /** Single addresses, as ipaddr.js writes them. Such an entry allows even a metadata address. */
  readonly addresses: ReadonlySet<string>;
  /** In lower case, without a trailing dot. */
  readonly hosts: ReadonlySet<string>;
}

/** The default: public addresses only. */
export const NOTHING_PRIVATE: AllowedPrivate = { ranges: [], addresses: new Set(), hosts: new Set() };

/**
 * Addresses at which clouds hand out credentials to any client inside. Only an entry for the address itself allows one, never a range
 * or a host name. The last one is in a public range.
 */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254', // AWS, Google, Azure, and those who copied them
  '169.254.170.2', // AWS ECS
  '169.254.170.23', // AWS EKS
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS EKS
  'fd20:ce::254', // Google
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Azure WireServer
]);

/** IPv4-compatible addresses (RFC 4291 section 2.5.5.1), which ipaddr.js classifies as public. */
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');
/** NAT64, the well-known prefix and the local one (RFC 6052, RFC 8215). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/32');
const NAT64_WELL_KNOWN = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');

/**
 * Is it forbidden to connect to an address? The first row that applies decides:
 *
 * | the address                                        | denied |
 * |----------------------------------------------------|--------|
 * | is not an IP address                               | yes    |
 * | is in the list by itself                           | no     |
 * | is a metadata address, or carries one              | yes    |
 * | is public (ipaddr.js: `unicast`, and not `::/96`)  | no     |
 * | carries a public one under NAT64's well-known prefix | no   |
 * | belongs to a host name that is in the list         | no     |
 * | is in a range of the list                          | no     |
 * | is any other                                       | yes    |
 *
 * An IPv4-mapped address is treated as the IPv4 address it contains. In an IPv6-only network, DNS64 gives each IPv4-only host an
 * address with the NAT64 prefix (RFC 6147).
 */
export function isDenied(address: string, allowed: AllowedPrivate, host?: string): boolean {
  if (isIP(address) === 0) return true;
  const parsed = ipaddr.process(address);
  if (allowed.addresses.has(parsed.toString())) return false;
  if (isMetadata(parsed)) return true;
  if (isPublic(parsed)) return false;
  if (host !== undefined && allowed.hosts.has(withoutDot(host))) return false;
  return !allowed.ranges.some((range) => isIn(parsed, range));
}

/**
 * Reads the entries of `PRIVATE_HOSTS`: CIDR ranges, single addresses, host names.
 *
 * @returns the list, or a problem for each entry that is none of these
 */
export function parsePrivateHosts(
  entries: readonly string[],
): AllowedPrivate | { readonly problems: readonly string[] } {
  const ranges: (readonly [Address, number])[] = [];
  const addresses = new Set<string>();
  const hosts = new Set<string>();
  const problems: string[] = [];
  for (const entry of entries) {
    const range = rangeOf(entry);
    const host = hostOf(entry);
    if (range !== undefined) {
      const [address, bits] = range;
      if (bits === address.toByteArray().length * 8) addresses.add(address.toString());
      else ranges.push(range);
    } else if (host !== undefined) {
      hosts.add(host);
    } else {
      problems.push(`"${entry}" is neither an IP address, nor a range such as 10.0.0.0/8, nor a host name`);
    }
  }
  return problems.length > 0 ? { problems } : { ranges, addresses, hosts };
}

/** Reads a CIDR range; an address is a range of one. */
function rangeOf(entry: string): readonly [Address, number] | undefined {
  const [, literal = '', prefix] = /^\[?([0-9a-f.:]+)\]?(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
  if (isIP(literal) === 0) return undefined;
  const written = ipaddr.parse(literal);
  const length = written.toByteArray().length * 8;
  const bits = prefix === undefined ? length : Number(prefix);
  if (bits > length) return undefined;
  const address = ipaddr.process(literal);
  if (address.kind() === written.kind()) return [address, bits];
  return bits < 96 ? undefined : [address, bits - 96];
}

function hostOf(entry: string): string | undefined {
  const name = domainToASCII(withoutDot(entry));
  return /^(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name) && isIP(name) === 0 ? name : undefined;
}

function withoutDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

function isMetadata(address: Address): boolean {
  return METADATA.has(address.toString()) || METADATA.has(carriedBy(address) ?? '');
}

function isPublic(address: Address): boolean {
  if (isIn(address, NAT64_WELL_KNOWN)) return ipaddr.parse(carriedBy(address) ?? '').range() === 'unicast';
  return address.range() === 'unicast' && !isIn(address, IPV4_COMPATIBLE);
}

function isIn(address: Address, [base, bits]: readonly [Address, number]): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

/** Returns the IPv4 address inside an IPv6 address that a gateway would extract; nothing if there is none. */
function carriedBy(address: Address): string | undefined {
  const bytes = address.toByteArray();
  if (isIn(address, SIX_TO_FOUR)) return bytes.slice(2, 6).join('.');
  if (isIn(address, NAT64) || isIn(address, IPV4_COMPATIBLE)) return bytes.slice(12).join('.');
  return undefined;
}
