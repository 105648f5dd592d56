import { expect, test } from 'vitest';
import { hostHeadersOf } from '../../../../services/process/host-headers.ts';

// As curl takes them, and as in their file.
test.each(['X-Token: sesame', 'cookie:sesame', '{"a.test": {"cookie": "sesame"}}'])(
  'headers given instead of a file name are refused without repeating them: %s',
  async (hostHeaders) => {
    const refused = await hostHeadersOf({ hostHeaders }).catch(String);
    expect(refused).toContain('expected the name of a JSON file like {"example.com"');
    expect(refused).not.toContain('sesame');
  },
);
