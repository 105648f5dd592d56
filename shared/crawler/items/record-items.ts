/** The data of a record and its number of items: `data` is null for none, the item itself for one, a list for several. */
export interface RecordItems {
  readonly data: unknown;
  /** Missing for a crawler of one function, whose data count as one item if there are any. */
  readonly items?: number | undefined;
}

/** Puts items in the form of a record. */
export function recordItems(items: readonly unknown[]): { readonly data: unknown; readonly items: number } {
  return { data: items.length > 1 ? items : (items[0] ?? null), items: items.length };
}

/** Returns the items of a record. */
export function itemsIn({ data, items = data === undefined ? 0 : 1 }: RecordItems): readonly unknown[] {
  if (items > 1) return data as readonly unknown[];
  return items === 1 ? [data] : [];
}
