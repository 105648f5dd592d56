import { createContext } from 'preact';
import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import type { Role } from '../api/answers.ts';
import { useMay } from '../api/caller.ts';
import { focusOnTitle } from './page.tsx';

/** A change that a person can make to the fleet, as the dialog shows it. */
export interface Action {
  /** The action and its object, such as `Cancel run 2026…?`. */
  readonly title: string;
  /** Verb on the dialog's button. */
  readonly verb: string;
  /** Shorter text where there is little room; defaults to the verb. */
  readonly label?: string;
  /** Shared by actions that replace each other, like pausing and resuming, so that the button stays and keeps the focus. */
  readonly place?: string;
  /** Role that sees the button; defaults to `admin`. */
  readonly needs?: Role;
  /** True if the action can't be undone. */
  readonly isFinal?: boolean;
  /** Its meaning in a sentence or two. */
  readonly meaning?: string;
  /** Counts what the action would affect. The button is disabled until the count is shown. */
  readonly count?: () => Promise<string>;
  /** Asks for a reason, which is kept in the audit. */
  readonly asksReason?: boolean;
  /** Asks for a value. */
  readonly asks?: { readonly label: string; readonly hint?: string };
  /** Returns the equivalent command. */
  readonly command: (given: Given) => string;
  /** Performs the action and resolves with a sentence about the result. */
  readonly run: (given: Given) => Promise<string>;
}

/** Text typed into the dialog. */
interface Given {
  readonly reason: string | undefined;
  readonly value: string;
}

/** Opens the dialog. */
export const ActionContext = createContext<(action: Action) => void>(() => {});

interface ActionButtonProps {
  readonly action: Action;
  /** Text of the button; defaults to the action's label or verb. */
  readonly children?: string;
  /** The run or host that it acts on, for screen readers, which read one button after the other. */
  readonly of?: string;
}

/** A button that opens the dialog for an action. Shows nothing to users without the role. */
export function ActionButton({ action, children = action.label ?? action.verb, of }: ActionButtonProps) {
  const open = useContext(ActionContext);
  const button = useRef<HTMLButtonElement>(null);
  // A layout effect, since others are cleaned up after the button has gone.
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

/** The buttons for the actions on one thing. */
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
