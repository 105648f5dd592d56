import { render } from 'preact';
import { App } from './app.tsx';
import { showKeptTheme } from './parts/theme-button.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element with the id app');
showKeptTheme();
render(<App />, root);
