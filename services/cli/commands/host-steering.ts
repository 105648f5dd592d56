import { resumeHostCommand } from '../../../shared/control/bottleneck.ts';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { pausedHostJson, resumedHostJson } from '../../../shared/control/hosts/host-pause-json.ts';
import { pauseText } from '../../../shared/control/hosts/pause-text.ts';
import type { Pause } from '../../../shared/ports/host-gate.ts';
import type { Context } from '../command.ts';
import { tell, type Whose, withStores } from '../process/with-stores.ts';

/** `trawl pause --host`: stops all releases and fetches for the host, in every run, until it is resumed. */
export async function pauseHost(text: string, reason: string, context: Context, whose: Whose): Promise<number> {
  const host = readHost(text);
  return await withStores(context, 'trawl pause', whose, async ({ gate }) => {
    const was = await gate.pauseByHand(host, reason);
    const before = was === undefined ? '' : ` It was ${wasText(was)}.`;
    const text = `Host ${host} is paused (${reason}) until it is resumed.${before} Resume with: ${resumeHostCommand(host, whose.local === true)}`;
    tell(context, pausedHostJson(host, was, reason), [text]);
    return 0;
  });
}

/** `trawl resume --host`: ends a pause, even one that the host asked for. */
export async function resumeHost(text: string, context: Context, whose: Whose): Promise<number> {
  const host = readHost(text);
  return await withStores(context, 'trawl resume', whose, async ({ gate }) => {
    const was = await gate.resume(host);
    const sentence =
      was === undefined
        ? `Host ${host} was not paused: nothing changed.`
        : `Host ${host} was ${wasText(was)}; requests resume.`;
    tell(context, resumedHostJson(host, was), [sentence]);
    return 0;
  });
}

function wasText({ ms, reason, byHand }: Pause): string {
  return pauseText({ ms, reason, byHand });
}
