import { createContext } from 'preact';
import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import type { Role } from '../api/answers.ts';
import { useMay } from '../api/caller.ts';
import { focusOnTitle } from './page.tsx';

/** Something that a person may do to the fleet, as the dialog shows it. */
export interface Action {
  /** `Cancel run 2026…?`: what will be done, to what. */
  readonly title: string;
  /** On the button: one verb. */
  readonly verb: string;
  /** Where there is little room; the verb by default. */
  readonly label?: string;
  /** Shared by actions that take turns, as pausing and resuming: the button stays, and the focus on it. */
  readonly place?: string;
  /** Whose button it is; `admin` by default. */
  readonly needs?: Role;
  /** It can't be taken back. */
  readonly isFinal?: boolean;
  /** What it means, in a sentence or two. */
  readonly meaning?: string;
  /** Counts what it would touch; shown before the button may be pressed. */
  readonly count?: () => Promise<string>;
  /** Asks for a reason, which is kept in the audit. */
  readonly asksReason?: boolean;
  /** Asks for a value. */
  readonly asks?: { readonly label: string; readonly hint?: string };
  /** The same on the command line. */
  readonly command: (given: Given) => string;
  /** Does it; resolves with what became of it, in a sentence. */
  readonly run: (given: Given) => Promise<string>;
}

/** What was typed into the dialog. */
interface Given {
  readonly reason: string | undefined;
  readonly value: string;
}

/** Opens the dialog. */
export const ActionContext = createContext<(action: Action) => void>(() => {});

interface ActionButtonProps {
  readonly action: Action;
  /** Shown on the button; the action's verb by default. */
  readonly children?: string;
  /** For readers that hear one button after the other: which run, which host. */
  readonly of?: string;
}

/** A button that opens the dialog for an action; none for those who may not do it. */
export function ActionButton({ action, children = action.label ?? action.verb, of }: ActionButtonProps) {
  const open = useContext(ActionContext);
  const button = useRef<HTMLButtonElement>(null);
  // Other effects end when the button is gone already.
  useLayoutEffect(() => {
    const shown = button.current;
    return () => {
      if (shown !== null && shown === document.activeElement) focusOnTitle();
    };
  }, []);
  if (!useMay(action.needs ?? 'admin')) return null;
  return (
    <button
      ref={button}
      type="button"
      class={action.isFinal === true ? 'small final' : 'small'}
      aria-label={of === undefined ? undefined : `${children} ${of}`}
      onClick={() => open(action)}
    >
      {children}
    </button>
  );
}

interface ActionButtonsProps {
  readonly actions: readonly Action[];
  readonly of?: string;
}

/** What may be done to one thing. */
export function ActionButtons({ actions, of }: ActionButtonsProps) {
  const named = of === undefined ? {} : { of };
  return (
    <>
      {actions.map((action) => (
        <ActionButton key={action.place ?? action.verb} action={action} {...named} />
      ))}
    </>
  );
}
