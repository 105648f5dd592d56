import { useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../api/client.ts';
import { visible } from '../visible.ts';
import type { Action } from './action.tsx';
import { CommandLine } from './command-line.tsx';
import { focusOnTitle } from './page.tsx';

interface ActionDialogProps {
  readonly action: Action;
  /** Called with the result of the action, possibly after the dialog was closed. */
  readonly onDone: (result: string) => void;
  readonly onClose: () => void;
}

/**
 * Asks for confirmation of an action, and shows its meaning, how much it affects and its command. The focus starts on the field or, if
 * there is none, on the button that changes nothing, and returns to where it was.
 */
export function ActionDialog({ action, onDone, onClose }: ActionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const [reason, setReason] = useState('');
  const [value, setValue] = useState('');
  const [counted, setCounted] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const mayRun = !isBusy && (action.count === undefined || counted !== undefined) && (!action.asks || value !== '');
  const hasField = action.asks !== undefined || action.asksReason === true;
  const given = { reason: reason.trim() === '' ? undefined : reason.trim(), value: value.trim() };

  useEffect(() => {
    dialog.current?.showModal();
    if (!hasField) leave.current?.focus();
    let isOpen = true;
    action.count?.().then(
      (text) => isOpen && setCounted(text),
      (error: unknown) => isOpen && setProblem(sentenceOf(error)),
    );
    return () => {
      isOpen = false;
    };
  }, [action]);

  const run = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      onDone(await action.run(given));
      dialog.current?.close();
    } catch (error: unknown) {
      if (dialog.current === null) onDone(`${action.title} ${sentenceOf(error)}`);
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  const closed = (): void => {
    // The button that opened the dialog may be gone by now. Then the focus is on nothing, or still inside the closed dialog.
    const { activeElement: at } = document;
    if (at === document.body || dialog.current?.contains(at) === true) focusOnTitle();
    onClose();
  };

  return (
    <dialog ref={dialog} aria-labelledby="action-title" onClose={closed}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (mayRun) void run();
        }}
      >
        <h2 id="action-title">{visible(action.title)}</h2>
        {action.meaning !== undefined && <p>{visible(action.meaning)}</p>}
        {action.count !== undefined && (
          <p class="count" role="status">
            {counted ?? (problem === undefined ? 'Counting …' : 'Not counted.')}
          </p>
        )}
        {action.asks !== undefined && (
          <label class="field">
            <span>{action.asks.label}</span>
            <input value={value} required onInput={(event) => setValue(event.currentTarget.value)} />
            {action.asks.hint !== undefined && <small>{action.asks.hint}</small>}
          </label>
        )}
        {action.asksReason === true && (
          <label class="field">
            <span>Reason</span>
            <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
            <small>Optional. Kept in the audit.</small>
          </label>
        )}
        <CommandLine text={action.command(given)} />
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button ref={leave} type="button" onClick={() => dialog.current?.close()}>
            Leave it
          </button>
          <button type="submit" class={action.isFinal === true ? 'final primary' : 'primary'} disabled={!mayRun}>
            {isBusy ? 'Working …' : action.verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}
