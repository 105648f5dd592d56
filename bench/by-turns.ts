import { Figures } from './figures.ts';

/** Measures all sides in every round, with every second round in reverse order, since a machine's speed changes within minutes. */
export async function byTurns<Side, Measure>(
  sides: readonly Side[],
  rounds: number,
  measure: (side: Side, round: number) => Promise<Measure>,
): Promise<(side: Side) => readonly Measure[]> {
  const found = new Map(sides.map((side) => [side, [] as Measure[]]));
  for (let round = 1; round <= rounds; round++)
    for (const side of round % 2 === 1 ? sides : sides.toReversed()) found.get(side)?.push(await measure(side, round));
  return (side) => found.get(side) ?? [];
}

/** Divides the first figures by the second ones, round by round. */
export function ratiosOf(ones: readonly number[], others: readonly number[]): Figures {
  return new Figures(ones.map((one, round) => one / (others[round] ?? Number.NaN)));
}
