import { expect, test } from 'vitest';
import { usedFunctions } from '../../../../../../shared/stores/redis/rights/used-functions.ts';
import { readScript } from '../../../../../../shared/stores/redis/script-text.ts';

const LIBRARY = `-- idle() is only talked of.
local now = clock()

local function clock()
  return 1
end

local again
function again(n)
  if n > 0 then return again(n - 1) end
end

local function called(n)
  local inner = function()
    return 2
  end
  return again(n) + inner()
end

local function idle()
  return called(3)
end

if now > 1 then
  now = 1
end
`;

test('functions stay that the body or the other statements of the library call, directly or not', () => {
  const text = usedFunctions(LIBRARY, 'return called(1)\n');
  expect(text.trimEnd()).toBe(LIBRARY.trimEnd().replace(/^local function idle[\s\S]*?^end\n/m, ''));
});

test('a function that nothing calls is left out, even if a comment names it', () => {
  const text = usedFunctions(LIBRARY, '-- see called\nreturn now\n');
  expect([...text.matchAll(/function (\w+)/g)].map(([, name]) => name)).toEqual(['clock']);
  expect(text).toContain('if now > 1 then\n  now = 1\nend\n');
});

test('a script that reads one number of a host has few functions', () => {
  expect([...readScript('paused').matchAll(/function /g)].length).toBeLessThan(8);
});
