import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface PageProps {
  readonly title: string;
  /** A state or buttons beside the title. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Moves the focus to the page's title, for users whose focused element has gone. */
export function focusOnTitle(): void {
  document.querySelector('h1')?.focus({ preventScroll: true });
}

/** The title of the page shown last. On the first page the focus stays where the browser put it. */
let shownBefore: string | undefined;

/** A page with its title. Following a link to it moves the focus to the title, for the keyboard and for screen readers. */
export function Page({ title, aside, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Trawl`;
    if (shownBefore !== undefined && shownBefore !== title) {
      heading.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    shownBefore = title;
  }, [title]);
  return (
    <>
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {aside}
      </div>
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a page under a heading. */
export function Section({ title, aside, children }: SectionProps) {
  const id = `section-${title.toLowerCase().replaceAll(' ', '-')}`;
  return (
    <section aria-labelledby={id}>
      <div class="heading">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

interface AwaitedProps {
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  readonly children: ComponentChildren;
}

/** Shows content that was requested, with the reason if it is missing or old, or that it is loading. */
export function Awaited({ problem, isLoading, children }: AwaitedProps) {
  return (
    <>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {isLoading ? problem === undefined && <p class="none">Loading …</p> : children}
    </>
  );
}
