import type { z } from 'zod';

/** What is read of a schema's definition: it may be of any copy of zod. */
interface Schema {
  readonly shape?: object;
  readonly def: {
    readonly type: string;
    readonly catchall?: Schema;
    readonly innerType?: Schema;
    readonly out?: Schema;
    readonly left?: Schema;
    readonly right?: Schema;
    readonly options?: readonly Schema[];
  };
}

/** The fields of the items of a schema, in its order; nothing if they may have others, or can't be told. */
export function fieldsOfItems(schema: z.ZodType): readonly string[] | undefined {
  const found = fieldsOf(schema as unknown as Schema);
  return found === undefined ? undefined : [...new Set(found)];
}

function fieldsOf({ shape, def }: Schema): readonly string[] | undefined {
  if (shape !== undefined) return isOpen(def.catchall) ? undefined : Object.keys(shape);
  const inner = def.innerType ?? def.out;
  if (inner !== undefined) return fieldsOf(inner);
  const parts = def.left !== undefined && def.right !== undefined ? [def.left, def.right] : def.options;
  if (parts === undefined) return undefined;
  const all = parts.map(fieldsOf);
  return all.some((fields) => fields === undefined) ? undefined : all.flatMap((fields) => fields ?? []);
}

function isOpen(catchall: Schema | undefined): boolean {
  return catchall !== undefined && catchall.def.type !== 'never';
}
