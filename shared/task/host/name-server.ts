import { isIP } from 'node:net';

const HIGHEST_PORT = 65_535;

/** Is a text a name server in a form that c-ares accepts: `address`, `address:port` or `[address]:port`? */
export function isNameServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port] = /^(?:\[(.+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > HIGHEST_PORT)) return false;
  return v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6;
}
