import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { openProgram } from '../../../services/cli/program.ts';
import { commandLines } from '../../support/processes/command-lines.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { type Ended, openWorkplace } from '../../support/processes/trawl.ts';
import { letterOf, publishLetters } from '../../support/stores/letters.ts';

/** For tests that run many commands. */
const LONG_MS = 180_000;

/** Clears the screen, sets the title, fakes a line of the program, and reverses the text direction. */
const HOSTILE = '\u001b[2J\u001b]0;title\u0007\rRun mine finished\u009b1A\u0085\u202e\u2066\u2028\u007f';

function expectPrintable(name: string, { stdout, stderr }: Ended): void {
  expect(stdout + stderr, name).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
}

test(
  'control characters in foreign text are escaped for people and kept as they are in JSON',
  async () => {
    const { workplace, queuePrefix } = await openFleet({}, { LOG_FORMAT: 'pretty' });
    const url = 'http://a.test/1';
    const task = letterOf(url, { run: 'mine' });
    const letter = { ...JSON.parse(String(task.body)), error: HOSTILE };
    letter.attempts[0].error = HOSTILE;
    const raw = `${HOSTILE}no task`;
    await publishLetters(inject('rabbitmqUrl'), queuePrefix, [
      { ...task, body: JSON.stringify(letter) },
      { ...task, id: 'other', body: JSON.stringify({ ...letter, url: `http://b.test/${HOSTILE}` }) },
      { ...task, id: `id${HOSTILE}`, body: raw, headers: { 'x-last-error': HOSTILE } },
    ]);
    await workplace.json(['produce', url, '--run', 'mine']);
    const steered = [await workplace.run(['pause', 'mine', '--reason', HOSTILE])];
    steered.push(await workplace.run(['pause', '--host', 'a.test', '--reason', HOSTILE]));
    const shown: Record<string, Ended> = { pause: steered[0] as Ended, 'pause --host': steered[1] as Ended };
    const commands = [
      ['dlq', 'list'],
      ['dlq', 'list', '--json'],
      ['dlq', 'show', 'other'],
      ['dlq', 'export'],
      ['dlq', 'show', HOSTILE],
      ['status'],
      ['status', '--json'],
      ['status', 'mine'],
      ['url', url],
      ['url', HOSTILE],
      ['forget', HOSTILE],
      ['records', HOSTILE],
      ['crawl', HOSTILE],
      ['crawl', '--rate', HOSTILE],
      [HOSTILE],
      ['status', `--${HOSTILE}`],
    ];
    await Promise.all(commands.map(async (args) => (shown[args.join(' ')] = await workplace.run(args))));
    for (const [name, ended] of Object.entries(shown)) expectPrintable(name, ended);
    expect(shown['dlq list']?.stdout).toContain('\\u001b[2J\\u001b]0;title\\u0007\\u000dRun mine finished\\u009b1A');
    expect(shown['dlq list']?.stdout.split('\n').length, 'a line each').toBe(4);
    expect(shown['status mine']?.stdout).toContain('paused (\\u001b[2J');
    const letters = JSON.parse(shown['dlq list --json']?.stdout ?? '');
    expect(letters.map((each: { error: string }) => each.error)).toEqual([HOSTILE, HOSTILE, HOSTILE]);
    expect(letters.map((each: { raw?: string }) => each.raw)).toEqual([undefined, undefined, raw]);
  },
  LONG_MS,
);

test('a long dead letter does not widen the other lines of dlq list', async () => {
  const { workplace, queuePrefix } = await openFleet();
  const task = letterOf('http://a.test/1');
  const bodies = Array.from({ length: 21 }, (_, i) => ({ ...task, id: `raw-${i}`, body: 'x'.repeat(2 ** (i % 21)) }));
  await publishLetters(inject('rabbitmqUrl'), queuePrefix, bodies);
  const { stdout, stderr } = await workplace.run(['dlq', 'list']);
  expect(stderr).toContain('21 dead letters\n');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBe(21);
  for (const line of lines) expect(line.length).toBeLessThan(300);
  expect(lines.find((line) => line.endsWith('  raw-0'))?.length).toBeLessThan(130);
});

// Runs without processes: the table of exit codes covers what a process makes of a `UsageError`.
test('every command that takes a run id refuses one that leads out of OUTPUT_DIR', async () => {
  const { folder } = await openWorkplace();
  vi.stubEnv('OUTPUT_DIR', join(folder, 'output'));
  vi.stubEnv('REDIS_URL', 'redis://127.0.0.1:1');
  vi.stubEnv('RABBITMQ_URL', 'amqp://127.0.0.1:1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const commands = await commandsWithRun('../x');
  expect(commands.length).toBeGreaterThan(12);
  const refused = { name: 'UsageError', exitCode: 2, message: expect.stringMatching(/^expected a run id/) };
  for (const args of commands) {
    const program = await openProgram({ isWanted: (name) => name === args[0], exit: () => {} });
    await expect(program.parseAsync(args, { from: 'user' }), args.join(' ')).rejects.toMatchObject(refused);
  }
  expect(await readdir(folder)).toEqual([]);
});

/** Every way to name a run on a command line, taken from the program itself. */
async function commandsWithRun(id: string): Promise<string[][]> {
  const lines = commandLines({ page: 'http://a.test/', letter: 'http://a.test/', run: 'mine' });
  const program = await openProgram({ isWanted: () => true, exit: () => {} });
  return program.commands
    .flatMap((command) => (command.commands.length === 0 ? [command] : [...command.commands]))
    .flatMap((command) => {
      const path = [command.parent?.name() ?? '', command.name()].filter((name) => name !== 'trawl');
      const takesRun = command.registeredArguments.some((argument) => argument.name() === 'run');
      const options = command.options.map(({ long }) => long).filter((long) => long === '--run' || long === '--resume');
      const args = lines[path.join(' ')]?.args ?? [];
      const without = args.filter((each, i) => each !== '--run' && args[i - 1] !== '--run');
      return [
        ...(takesRun ? [[...path, '--', id]] : []),
        ...options.map((option) =>
          option === '--resume' ? [...path, `--resume=${id}`] : [...without, `${option}=${id}`],
        ),
      ];
    });
}
