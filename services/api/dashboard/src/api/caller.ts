import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Caller, ROLES, type Role } from './answers.ts';

/** Who is signed in; nothing until the API has said so. */
export const CallerContext = createContext<Caller | undefined>(undefined);

/** May the reader do what needs this role? Until that is known, yes: the API refuses what is not allowed. */
export function useMay(role: Role): boolean {
  const caller = useContext(CallerContext);
  return caller === undefined || ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}

/** Is this the dashboard of one machine's crawls, rather than of a fleet? */
export function useIsLocal(): boolean {
  return useContext(CallerContext)?.isLocal === true;
}
