import { type Middleware, middlewareProblems } from './middleware.ts';
import { type SessionDefinition, sessionProblems } from './session.ts';

/** The parts of a crawler around its steps. */
export interface Around {
  /** Environment variables passed to its login and middleware. A worker without them leaves the crawler's tasks to others. */
  readonly secrets?: readonly string[];
  /** Login for fetching its pages. */
  readonly session?: SessionDefinition;
  /** Functions that run before and after requests, and on items and records. */
  readonly middleware?: readonly Middleware[];
}

const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns every problem with these parts of a definition, a sentence each. */
export function aroundProblems(definition: unknown): readonly string[] {
  const { secrets = [], session, sessions, middleware } = definition as Readonly<Record<string, unknown>>;
  const isList = Array.isArray(secrets) && secrets.every((name) => typeof name === 'string' && SECRET_NAME.test(name));
  return [
    ...(isList ? [] : ["expected secrets to be a list of environment variables, as ['SHOP_USER']"]),
    ...sessionProblems(session, sessions),
    ...middlewareProblems(middleware),
  ];
}
