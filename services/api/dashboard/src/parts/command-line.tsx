import { useEffect, useRef, useState } from 'preact/hooks';
import { useIsLocal } from '../api/caller.ts';
import { localCommand } from '../command-line.ts';

const SAID_MS = 4_000;
/** Characters beyond which the command scrolls. */
const LONG = 400;

/** A command to copy into a terminal, which does the same as the page or dialog. */
export function CommandLine({ text: command }: { readonly text: string }) {
  const text = useIsLocal() ? localCommand(command) : command;
  const code = useRef<HTMLElement>(null);
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> =>
    setSaid((await copied(text, code.current)) ? 'Copied' : 'Selected: press Ctrl-C');
  return (
    <div class="command">
      <code ref={code} tabIndex={text.length > LONG ? 0 : undefined}>
        {text}
      </code>
      <button type="button" class="small" aria-label="Copy the command" onClick={() => void copy()}>
        {said === '' ? 'Copy' : said}
      </button>
      <span class="unseen" role="status">
        {said}
      </span>
    </div>
  );
}

/** Copies the text of an element. If the browser refuses, selects it for copying with the keyboard. */
async function copied(text: string, element: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The user refused, or the page came over plain HTTP from another machine, for which browsers offer no clipboard.
    if (element !== null) getSelection()?.selectAllChildren(element);
    return document.execCommand('copy');
  }
}
