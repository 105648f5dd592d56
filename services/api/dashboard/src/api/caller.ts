import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Caller, ROLES, type Role } from './answers.ts';

/** The user who is signed in; undefined until the API has answered. */
export const CallerContext = createContext<Caller | undefined>(undefined);

/** Tells whether the user has this role or a higher one. True until that is known: the API itself refuses what is not allowed. */
export function useMay(role: Role): boolean {
  const caller = useContext(CallerContext);
  return caller === undefined || ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

/** Tells whether this dashboard shows the crawls of one machine rather than a fleet. */
export function useIsLocal(): boolean {
  return useContext(CallerContext)?.isLocal === true;
}
