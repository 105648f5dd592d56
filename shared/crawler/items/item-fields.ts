import type { z } from 'zod';

/** The parts of a schema's definition that are read. The schema may come from any copy of zod. */
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

/** Returns the field names of a schema's items, in its order; undefined if items can have others, or if the fields can't be determined. */
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
