import { defineConfig } from 'vite';

/**
 * The dashboard, compiled into `dist/` beside this file: a page, one script, one style sheet, and nothing inline, since
 * the API's Content-Security-Policy allows none. Its addresses are relative, so that it also works below a path of a proxy.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: false,
    // A data: URL would be an exception in the policy.
    assetsInlineLimit: 0,
  },
});
