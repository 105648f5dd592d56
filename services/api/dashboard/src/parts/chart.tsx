import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { timeOfDay } from '../../../../../shared/control/format.ts';
import { SECOND_MS } from '../../../../../shared/task/durations.ts';

interface Line {
  readonly name: string;
  /** Name of a colour in the style sheet, such as `--good`. */
  readonly colour: string;
  readonly values: readonly number[];
}

interface ChartProps {
  /** Text that replaces the chart for users who can't see it. */
  readonly label: string;
  /** Epoch seconds. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
}

const HEIGHT_PX = 150;
const NARROWEST_PX = 120;
const AXIS_PX = 52;
const AXIS_HEIGHT_PX = 26;
const FONT = '11px system-ui, sans-serif';
/** The chart spans an hour even while less than that is known. */
const SPAN_S = 3_600;
/** Dashes of the line for bad news, so that it can be told from the others without seeing its colour. */
const DASH = [5, 4];

/** Lines over the last hour. Pointing at a moment shows its values below. */
export function Chart({ label, times, lines, text }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [at, setAt] = useState<number | undefined>(undefined);
  const theme = useTheme();
  const names = lines.map(({ name }) => name).join();
  const shown = useRef(text);
  shown.current = text;

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const axis = {
      stroke: colourOf('--dim', element),
      font: FONT,
      grid: { stroke: colourOf('--line', element), width: 1 },
    };
    const made = new uPlot(
      {
        width: Math.max(NARROWEST_PX, element.clientWidth),
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: true }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
        axes: [
          { ...axis, ticks: { show: false }, size: AXIS_HEIGHT_PX, values: (_, ticks) => ticks.map(clock) },
          {
            ...axis,
            ticks: { show: false },
            size: AXIS_PX,
            values: (_, ticks) => ticks.map((tick) => shown.current(tick)),
          },
        ],
        series: [
          {},
          ...lines.map(({ name, colour }) => ({
            label: name,
            stroke: colourOf(colour, element),
            width: 1.5,
            ...(colour === '--bad' ? { dash: DASH } : {}),
            points: { show: false },
          })),
        ],
        hooks: { setCursor: [({ cursor }) => setAt(cursor.idx ?? undefined)] },
      },
      dataOf(times, lines),
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() =>
      made.setSize({ width: Math.max(NARROWEST_PX, element.clientWidth), height: HEIGHT_PX }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [names, theme]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines]);

  const index = at ?? times.length - 1;
  const time = times[index];
  return (
    <figure class="chart">
      <div ref={place} class="plot" role="img" aria-label={label} />
      <figcaption>
        {lines.map(({ name, colour, values }) => (
          <span key={name} class={`key ${colour.slice(2)}`}>
            {name} <b>{values[index] === undefined ? '–' : text(values[index])}</b>
          </span>
        ))}
        {at !== undefined && time !== undefined && <span class="dim">{clock(time)}</span>}
      </figcaption>
    </figure>
  );
}

function dataOf(times: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  const last = times.at(-1);
  const first = times[0];
  if (last === undefined || first === undefined || last - first >= SPAN_S)
    return [[...times], ...lines.map(({ values }) => [...values])];
  // An empty point an hour ago keeps the scale, so that a growing line doesn't shrink.
  return [[last - SPAN_S, ...times], ...lines.map(({ values }) => [null, ...values])];
}

function colourOf(name: string, element: Element): string {
  // The style sheet gives light and dark in one value, which is resolved only on an element.
  const probe = document.createElement('span');
  probe.className = `probe ${name.slice(2)}`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function clock(seconds: number): string {
  return timeOfDay(seconds * SECOND_MS);
}

/** Returns a text that changes when the theme or the system's colour scheme does. */
function useTheme(): string {
  const read = (): string =>
    `${document.documentElement.dataset.theme}${matchMedia('(prefers-color-scheme: dark)').matches}`;
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = (): void => setTheme(read());
    const observer = new MutationObserver(onChange);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    query.addEventListener('change', onChange);
    return () => {
      observer.disconnect();
      query.removeEventListener('change', onChange);
    };
  }, []);
  return theme;
}
