import type { Settlement } from '../../ports/frontier/frontier.ts';
import { wellFormedJson } from '../../runtime/printable.ts';
import { formOf } from '../../task/task/form.ts';

/** Returns a settlement in JSON, as `settle.lua` expects it. */
export function writeSettlement(settlement: Settlement): string {
  const { attempt, moved, page } = settlement;
  const written = {
    ...settlement,
    attempt: attempt && wellFormedJson(JSON.stringify(attempt)),
    moved: moved && { host: moved.host, form: formOf(moved) },
    page: page && { ...page, askedMsAgo: Math.max(0, Math.round(page.askedMsAgo)) },
  };
  // Lua's cjson refuses half a surrogate pair: a task whose error text was cut inside an emoji would never end.
  return wellFormedJson(JSON.stringify(written));
}
