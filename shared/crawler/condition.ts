import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../task/is-object.ts';
import { verdictOf } from '../task/task/verdict.ts';

/** What a value may be compared with. */
type Scalar = string | number | boolean | null;
/** What links keep. */
export type Kept = Readonly<Record<string, unknown>>;

/**
 * Is a link followed? Judged from what it keeps: by a function, or by a form that can be printed. In a form every key that is
 * given must hold, and each names fields of what is kept: `{ exists: 'sku' }`, `{ greaterThan: { price: 10 } }`.
 */
export type Condition = ((kept: Kept) => boolean) | ConditionForm;

export interface ConditionForm {
  /** Fields that are there, and not null. */
  readonly exists?: string | readonly string[];
  readonly equals?: Readonly<Record<string, Scalar>>;
  readonly notEquals?: Readonly<Record<string, Scalar>>;
  /** Numbers, or texts by code unit, such as dates of ISO 8601. A field of another type doesn't hold. */
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

/** Does what is kept meet a condition? */
export function meets(kept: Kept, condition: Condition): boolean {
  if (typeof condition === 'function') return verdictOf(condition(kept), 'when');
  return Object.entries(condition).every(
    ([key, wanted]) => wanted === undefined || TESTS[key as keyof Tests](wanted as never, kept),
  );
}

/** A condition in words, for a picture of the graph. */
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

/** What is wrong with a condition; nothing if it can be judged. */
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
