import { type Middleware, middlewareProblems } from './middleware.ts';
import { type SessionDefinition, sessionProblems } from './session.ts';

/** What a crawler has around its steps. */
export interface Around {
  /** Environment variables whose values its login and its middleware get. A worker without them leaves its tasks to others. */
  readonly secrets?: readonly string[];
  /** How its pages are fetched by somebody who is logged in. */
  readonly session?: SessionDefinition;
  /** What is done before and after requests, and with items and records. */
  readonly middleware?: readonly Middleware[];
}

const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What is wrong with it, each as a sentence. */
export function aroundProblems(definition: unknown): readonly string[] {
  const { secrets = [], session, sessions, middleware } = definition as Readonly<Record<string, unknown>>;
  const isList = Array.isArray(secrets) && secrets.every((name) => typeof name === 'string' && SECRET_NAME.test(name));
  return [
    ...(isList ? [] : ["expected secrets to be a list of environment variables, as ['SHOP_USER']"]),
    ...sessionProblems(session, sessions),
    ...middlewareProblems(middleware),
  ];
}
