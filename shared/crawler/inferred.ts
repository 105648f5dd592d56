import type { z } from 'zod';

/* What the types of a definition's parts follow from; see `definition.ts`. */

export type At<T, N> = N extends keyof T ? T[N] : undefined;
export type NamesIn<T> = T extends readonly (infer S extends string)[] ? S : never;
export type KeptBy<Keeps> = Keeps extends z.ZodType ? z.output<Keeps> : Readonly<Record<string, unknown>>;
export type GivenTo<Keeps> = Keeps extends z.ZodType ? z.input<Keeps> : Readonly<Record<string, never>>;
export type ItemOf<Item> = Item extends z.ZodType ? Unchecked<z.input<Item>> : unknown;
/** As a page has it: a field that wasn't found is undefined, and the schema says whether it may be. */
export type Unchecked<T> = T extends object ? { readonly [K in keyof T]: Unchanged<T[K]> | undefined } : T;
/** A list that nobody changes, as `page.links` gives it, is as good as one of the schema's type. */
type Unchanged<T> = T extends readonly unknown[] ? Readonly<T> : T;
