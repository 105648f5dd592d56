import { useEffect, useState } from 'preact/hooks';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEY = 'trawl-theme';

/** Light, dark, or as the system has it. Kept in this browser. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    showTheme(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A browser that keeps nothing follows the system next time.
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

/** As it was chosen, before anything is drawn. */
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
