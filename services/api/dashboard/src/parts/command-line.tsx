import { useEffect, useRef, useState } from 'preact/hooks';
import { useIsLocal } from '../api/caller.ts';
import { localCommand } from '../command-line.ts';

const SAID_MS = 4_000;
/** A longer one scrolls. */
const LONG = 400;

/** A command that does the same in a terminal, to copy. */
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

/** Copies a text that stands in an element. Where the browser refuses, the text is selected, for the keyboard. */
async function copied(text: string, element: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Refused by the reader; or the page came by http from another machine, where browsers have no clipboard.
    if (element !== null) getSelection()?.selectAllChildren(element);
    return document.execCommand('copy');
  }
}
