import { useEffect, useState } from 'preact/hooks';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'trawl-theme';

/** Switches between light, dark and the system's colours. The choice is kept in this browser. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    showTheme(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice can't be kept: next time the page follows the system.
    }
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  return (
    <button
      type="button"
      class="small"
      aria-label={`Colours: ${theme}; switch to ${next}`}
      onClick={() => setTheme(next)}
    >
      Colours: {theme}
    </button>
  );
}

/** Applies the kept choice before anything is drawn. */
export function showKeptTheme(): void {
  showTheme(readTheme());
}

function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

function readTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}
