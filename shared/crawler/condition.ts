import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../task/is-object.ts';
import { verdictOf } from '../task/task/verdict.ts';

/** A value that a field can be compared with. */
type Scalar = string | number | boolean | null;
/** The kept of a link: JSON that travels with its task. */
export type Kept = Readonly<Record<string, unknown>>;

/**
 * Decides from a link's `kept` whether the link is followed: a function, or a form, which graphs can print. A form holds if all of its
 * keys hold; each key names fields of `kept`: `{ exists: 'sku' }`, `{ greaterThan: { price: 10 } }`.
 */
export type Condition = ((kept: Kept) => boolean) | ConditionForm;

export interface ConditionForm {
  /** Fields that must be present and not null. */
  readonly exists?: string | readonly string[];
  readonly equals?: Readonly<Record<string, Scalar>>;
  readonly notEquals?: Readonly<Record<string, Scalar>>;
  /** Compares numbers, or texts by code unit, which suits ISO 8601 dates. Fails if the field has another type than the value. */
  readonly greaterThan?: Readonly<Record<string, number | string>>;
  readonly lessThan?: Readonly<Record<string, number | string>>;
  readonly in?: Readonly<Record<string, readonly Scalar[]>>;
  readonly and?: readonly ConditionForm[];
  readonly or?: readonly ConditionForm[];
  readonly not?: ConditionForm;
}

type Tests = { readonly [K in keyof Required<ConditionForm>]: (wanted: never, kept: Kept) => boolean };

const TESTS: Tests = {
  exists: (names: string | readonly string[], kept) => [names].flat().every((name) => isThere(kept[name])),
  equals: (wanted: object, kept) => every(wanted, (name, value) => isDeepStrictEqual(kept[name], value)),
  notEquals: (wanted: object, kept) => every(wanted, (name, value) => !isDeepStrictEqual(kept[name], value)),
  greaterThan: (wanted: object, kept) => every(wanted, (name, value) => isOrdered(value, kept[name])),
  lessThan: (wanted: object, kept) => every(wanted, (name, value) => isOrdered(kept[name], value)),
  in: (wanted: object, kept) => every(wanted, (name, values) => (values as unknown[]).includes(kept[name])),
  and: (forms: readonly ConditionForm[], kept) => forms.every((form) => meets(kept, form)),
  or: (forms: readonly ConditionForm[], kept) => forms.some((form) => meets(kept, form)),
  not: (form: ConditionForm, kept) => !meets(kept, form),
};

/** Returns whether `kept` meets a condition. */
export function meets(kept: Kept, condition: Condition): boolean {
  if (typeof condition === 'function') return verdictOf(condition(kept), 'when');
  return Object.entries(condition).every(
    ([key, wanted]) => wanted === undefined || TESTS[key as keyof Tests](wanted as never, kept),
  );
}

/** Returns a condition in words, for a drawing of the graph. */
export function conditionText(condition: Condition): string {
  return typeof condition === 'function' ? 'a condition' : Object.entries(condition).map(partText).join(' and ');
}

const SIGNS: Readonly<Record<string, string>> = {
  equals: '=',
  notEquals: '≠',
  greaterThan: '>',
  lessThan: '<',
  in: 'in',
};

function partText([key, wanted]: [string, unknown]): string {
  if (key === 'exists')
    return [wanted]
      .flat()
      .map((name) => `${name} exists`)
      .join(' and ');
  if (key === 'not') return `not (${conditionText(wanted as ConditionForm)})`;
  if (key === 'and' || key === 'or')
    return (wanted as ConditionForm[]).map((each) => `(${conditionText(each)})`).join(` ${key} `);
  return Object.entries(wanted as object)
    .map(([name, value]) => `${name} ${SIGNS[key]} ${JSON.stringify(value)}`)
    .join(' and ');
}

/** Returns the first problem in a condition; undefined if it is valid. */
export function conditionProblem(condition: unknown): string | undefined {
  if (typeof condition === 'function') return undefined;
  if (!isObject(condition)) return 'expected a function, or a form such as { exists: … }';
  const unknown = Object.keys(condition).find((key) => !Object.hasOwn(TESTS, key));
  if (unknown !== undefined) return `there is no ${unknown}; there are ${Object.keys(TESTS).join(', ')}`;
  const problems = Object.entries(condition).map(([key, wanted]) => partProblem(key, wanted));
  return problems.find((problem) => problem !== undefined);
}

function partProblem(key: string, wanted: unknown): string | undefined {
  if (wanted === undefined) return undefined;
  switch (key) {
    case 'not':
      return conditionProblem(wanted);
    case 'and':
    case 'or':
      if (!Array.isArray(wanted)) return `expected ${key} to be a list of forms`;
      return wanted.map(conditionProblem).find((problem) => problem !== undefined);
    case 'exists':
      if ([wanted].flat().every((name) => typeof name === 'string')) return undefined;
      return 'expected exists to be a field, or a list of fields';
    case 'in':
      if (isObject(wanted) && Object.values(wanted).every(Array.isArray)) return undefined;
      return "expected in to be fields, each with a list of values: { size: ['s', 'm'] }";
    default:
      return isObject(wanted) ? undefined : `expected ${key} to be fields with their values: { size: 's' }`;
  }
}

function every(wanted: object, holds: (name: string, value: unknown) => boolean): boolean {
  return Object.entries(wanted).every(([name, value]) => holds(name, value));
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isOrdered(smaller: unknown, greater: unknown): boolean {
  if (typeof smaller === 'number' && typeof greater === 'number') return smaller < greater;
  return typeof smaller === 'string' && typeof greater === 'string' && smaller < greater;
}
