import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** The answer of a name server for a name. */
export interface Zone {
  /** IPv4 and IPv6 addresses. Default: none. */
  readonly addresses?: readonly string[];
  /** Another name, to which the addresses belong. */
  readonly alias?: string;
  readonly delayMs?: number;
  /** Resolves when the answer is to be sent. */
  readonly held?: Promise<unknown>;
  readonly says?: 'SERVFAIL' | 'REFUSED' | 'nothing at all';
  /** Questions of this type get no answer. */
  readonly isSilentOn?: 'A' | 'AAAA';
}

const CODES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const [A, AAAA, CNAME] = [1, 28, 5];
const NAME_OF_THE_QUESTION = Buffer.from([0xc0, 12]);

/** A name server over UDP (RFC 1035) for the names of a test. */
export class DnsServer {
  readonly #socket = createSocket('udp4');
  readonly #zoneOf: (name: string) => Zone | undefined;
  readonly #open = new Map<string, number>();
  /** All questions so far, such as `A a.test`. */
  readonly asked: string[] = [];
  /** The most names with open questions at once. */
  mostOpen = 0;
  isStopped = false;

  /** @param zoneOf returns `undefined` for a name that doesn't exist */
  constructor(zoneOf: (name: string) => Zone | undefined) {
    this.#zoneOf = zoneOf;
    this.#socket.on('message', (question, from) => void this.#answer(question, from));
  }

  async start(): Promise<void> {
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
  }

  /** Its address in the form of {@link Names} and `DNS_SERVERS`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** Call it once only. */
  stop(): void {
    this.isStopped = true;
    this.#socket.close();
  }

  async #answer(question: Buffer, from: RemoteInfo): Promise<void> {
    const { name, type, end } = readQuestion(question);
    const kind = type === A ? 'A' : 'AAAA';
    this.asked.push(`${kind} ${name}`);
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
    this.mostOpen = Math.max(this.mostOpen, this.#open.size);
    const zone = this.#zoneOf(name);
    await zone?.held;
    if (zone?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, zone.delayMs));
    if (zone?.says === 'nothing at all' || zone?.isSilentOn === kind) return;
    const left = (this.#open.get(name) ?? 1) - 1;
    if (left === 0) this.#open.delete(name);
    else this.#open.set(name, left);
    if (this.isStopped) return;
    this.#socket.send(answerTo(question.subarray(0, end), type, zone), from.port, from.address);
  }
}

function readQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, type: number, zone: Zone | undefined): Buffer {
  const addresses = (zone?.addresses ?? []).filter((address) => isIPv6(address) === (type === AAAA));
  const alias = zone?.alias === undefined ? undefined : nameBytes(zone.alias);
  const owner = alias ?? NAME_OF_THE_QUESTION;
  const records = [
    ...(alias === undefined ? [] : [record(NAME_OF_THE_QUESTION, CNAME, alias)]),
    ...addresses.map((address) => record(owner, type, addressBytes(address))),
  ];
  const said = zone?.says === undefined || zone.says === 'nothing at all' ? 0 : CODES[zone.says];
  const header = Buffer.alloc(12);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (zone === undefined ? CODES.NXDOMAIN : said), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question.subarray(12), ...records]);
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

/** The bytes of an address; an IPv6 one must be written in full or with one `::`. */
function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
