/** The data of a record, and how many items they are: none is null, one is the data themselves, several are a list. */
export interface RecordItems {
  readonly data: unknown;
  /** Left out by a crawler of one function: its data are one item, if there are any. */
  readonly items?: number | undefined;
}

/** Items as a record has them. */
export function recordItems(items: readonly unknown[]): { readonly data: unknown; readonly items: number } {
  return { data: items.length > 1 ? items : (items[0] ?? null), items: items.length };
}

/** The items that a record has. */
export function itemsIn({ data, items = data === undefined ? 0 : 1 }: RecordItems): readonly unknown[] {
  if (items > 1) return data as readonly unknown[];
  return items === 1 ? [data] : [];
}
