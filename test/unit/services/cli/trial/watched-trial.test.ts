import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchTrials } from '../../../../../services/cli/trial/watched-trial.ts';

test('a trial whose process can not be started is reported, and watching continues', async () => {
  const { execPath } = process;
  process.execPath = join(import.meta.dirname, 'no-such-program');
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    process.execPath = execPath;
    written.mockRestore();
  });
  const abort = new AbortController();
  const watching = watchTrials([import.meta.filename], abort.signal);
  await expect
    .poll(() => written.mock.calls.join(''))
    .toMatch(/^It could not be started: .+ENOENT\. Watching for saves; Ctrl-C to stop\.$/m);
  abort.abort(new Error('over'));
  await expect(watching).rejects.toThrow('over');
});
