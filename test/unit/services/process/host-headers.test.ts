import { expect, test } from 'vitest';
import { hostHeadersOf } from '../../../../services/process/host-headers.ts';

// As curl takes them, and as their file has them.
test.each(['X-Token: sesame', 'cookie:sesame', '{"a.test": {"cookie": "sesame"}}'])(
  'headers in place of the name of their file are answered with its form, and not repeated: %s',
  async (hostHeaders) => {
    const refused = await hostHeadersOf({ hostHeaders }).catch(String);
    expect(refused).toContain('expected the name of a JSON file like {"example.com"');
    expect(refused).not.toContain('sesame');
  },
);
