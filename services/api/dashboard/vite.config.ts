import { defineConfig } from 'vite';

/**
 * Builds the dashboard into `dist/` beside this file: a page, one script and one style sheet. Nothing is inline, since the API's
 * Content-Security-Policy forbids it. Addresses are relative, so the dashboard also works below a path of a proxy.
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
    // A data: URL would need an exception in the policy.
    assetsInlineLimit: 0,
  },
});
