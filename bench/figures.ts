/** Several measurements of one quantity. */
export class Figures {
  readonly values: readonly number[];

  constructor(values: readonly number[]) {
    this.values = [...values].sort((a, b) => a - b);
  }

  get median(): number {
    const middle = this.values.length / 2;
    const [low = 0, high = 0] = [this.values[Math.ceil(middle) - 1], this.values[Math.floor(middle)]];
    return (low + high) / 2;
  }

  /** `2 750 (2 700–2 810)`, or one number if there is only one. */
  text(digits = 0): string {
    const write = (value: number): string => value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
    const [least, most] = [this.values[0] ?? 0, this.values.at(-1) ?? 0];
    return least === most ? write(this.median) : `${write(this.median)} (${write(least)}–${write(most)})`;
  }
}
