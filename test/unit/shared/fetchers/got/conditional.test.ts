import { expect, test } from 'vitest';
import { setup } from '../setup.ts';

const MODIFIED = 'Sat, 21 Nov 2026 09:30:15 GMT';

test('validators make a request conditional, word for word; without them it is none', async () => {
  const { fetch, site } = await setup();
  site.on('/page', (_, response) => response.writeHead(304, { etag: 'W/"x"' }).end());
  const page = await fetch('/page', { validators: { etag: 'W/"x"', modified: MODIFIED } });
  expect(page).toMatchObject({ status: 304, headers: { etag: 'W/"x"' }, body: new Uint8Array() });
  await fetch('/page', { validators: { etag: '"y"' } });
  await fetch('/page');
  expect(site.requests.map(({ headers }) => [headers['if-none-match'], headers['if-modified-since']])).toEqual([
    ['W/"x"', MODIFIED],
    ['"y"', undefined],
    [undefined, undefined],
  ]);
  for (const { headers } of site.requests)
    expect(headers).toMatchObject({ 'user-agent': expect.anything(), 'accept-encoding': expect.anything() });
});
