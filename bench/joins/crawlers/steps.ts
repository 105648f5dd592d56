import type { Page } from 'trawl';

interface Context {
  readonly page: Page;
  readonly emit: (item: { readonly text: string | undefined }) => void;
}

const PARTS = ['price', 'stock', 'reviews'];

/** Follows three pages below an owner. All four are the bench's page. */
export function product(
  context: Context & { readonly follow: (step: 'part', links: readonly string[]) => void },
): void {
  const { page, follow, emit } = context;
  emit({ text: page.get('b') });
  follow(
    'part',
    PARTS.map((part) => `${page.url}?${part}`),
  );
}

export function part({ page, emit }: Context): void {
  emit({ text: page.get('b') });
}
