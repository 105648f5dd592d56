import { messageOf } from '../../../runtime/errors.ts';
import { NO_RIGHTS } from '../rights/commands.ts';

type Refusals = readonly (readonly [answer: RegExp, reason: string])[];

/** Why a server refuses a connection, or every command, until something has passed. */
const OF_ALL: Refusals = [
  [
    /^BUSY /,
    "it is busy with another client's script, and answers nothing else until that ends, or redis-cli SCRIPT KILL ends it",
  ],
  [
    /^ERR max number of clients/,
    'it has as many connections as it may: close some, or raise maxclients (redis-cli CONFIG SET maxclients)',
  ],
];

/** Why a server takes no writes at all. Not `OOM`: on a full server, scripts that drain it still run. */
const OF_WRITES: Refusals = [
  [/^READONLY/, 'it is a replica, and takes no writes'],
  [
    /^MISCONF/,
    "it can't save its data, and takes no writes until it can: is its disk full? Its log says why (MISCONF)",
  ],
  [
    /^NOREPLICAS/,
    'it has too few replicas, and takes no writes until they are back (NOREPLICAS, min-replicas-to-write)',
  ],
];

/** Returns why a server refuses every command for now; `undefined` for any other error. */
export function temporaryRefusal(error: unknown): string | undefined {
  return reasonIn(OF_ALL, error);
}

/** Returns why a server takes no writes for now; `undefined` for any other error. */
export function noWritesReason(error: unknown): string | undefined {
  return messageOf(error).startsWith(NO_RIGHTS) ? 'its user lacks a right' : reasonIn([...OF_ALL, ...OF_WRITES], error);
}

function reasonIn(refusals: Refusals, error: unknown): string | undefined {
  const said = messageOf(error);
  return refusals.find(([answer]) => answer.test(said))?.[1];
}
