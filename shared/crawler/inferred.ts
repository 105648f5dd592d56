import type { z } from 'zod';

/* Types that infer the parts of a definition; see `definition.ts`. */

export type At<T, N> = N extends keyof T ? T[N] : undefined;
export type NamesIn<T> = T extends readonly (infer S extends string)[] ? S : never;
export type KeptBy<Keeps> = Keeps extends z.ZodType ? z.output<Keeps> : Readonly<Record<string, unknown>>;
export type GivenTo<Keeps> = Keeps extends z.ZodType ? z.input<Keeps> : Readonly<Record<string, never>>;
export type ItemOf<Item> = Item extends z.ZodType ? Unchecked<z.input<Item>> : unknown;
/** An object as it comes from a page: a field that wasn't found is undefined, and the schema decides whether that is allowed. */
export type Unchecked<T> = T extends object ? { readonly [K in keyof T]: Unchanged<T[K]> | undefined } : T;
/** Accepts a readonly list, such as `page.links` returns, where the schema has a mutable one. */
type Unchanged<T> = T extends readonly unknown[] ? Readonly<T> : T;
