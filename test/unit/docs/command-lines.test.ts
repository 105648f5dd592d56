import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { openProgram } from '../../../services/cli/program.ts';
import { PAGES, proseOf, textOf, typedOn } from '../../support/docs/pages.ts';

/** `trawl COMMAND`, `trawl …` and `trawl dlq …` stand for any. */
const ANY = /^(?:COMMAND|…|--)$/;
/** Users are called so in commands of other programs. */
const OTHERS = /rabbitmqctl|redis-cli/;

async function commands(): Promise<ReadonlyMap<string, Command>> {
  const program = await openProgram({ isWanted: () => true, exit: () => {} });
  const all = (command: Command, path: string): [string, Command][] => [
    [path, command],
    ...command.commands.flatMap((each) => all(each, `${path} ${each.name()}`)),
  ];
  return new Map(program.commands.flatMap((command) => all(command, command.name())));
}

/** Each of the command lines in a text, from the name of its command on. `trawl pause|resume RUN` is two. */
function commandLinesIn(line: string): { readonly names: readonly string[]; readonly rest: string }[] {
  if (OTHERS.test(line)) return [];
  const parts = line.split(/(?:^|\s)(?:npm run -s trawl --|trawl)\s+/).slice(1);
  return parts.flatMap((part) => {
    const [first = '', second = ''] = part.trim().split(/\s+/);
    if (ANY.test(first) || ANY.test(second)) return [];
    const firsts = first.split('|');
    const seconds = /^(?:dlq|crawlers)$/.test(first) && /^[a-z|]+$/.test(second) ? second.split('|') : [''];
    return [{ names: firsts.flatMap((name) => seconds.map((below) => `${name} ${below}`.trim())), rest: part }];
  });
}

test.each(PAGES)('%s: commands and their flags are those that there are', async (page) => {
  const known = await commands();
  const wrong = typedOn(page)
    .flatMap(commandLinesIn)
    .flatMap(({ names, rest }) =>
      names.flatMap((name) => {
        const command = known.get(name);
        if (command === undefined) return [`${name}: ${rest}`];
        const flags = new Set([...command.options.flatMap(({ long, short }) => [long, short]), '--help']);
        const named = rest.match(/(?<![^\s[|(])--?[a-zA-Z][\w-]*/g) ?? [];
        return named.filter((flag) => !flags.has(flag)).map((flag) => `${name} ${flag}: ${rest}`);
      }),
    );
  expect(wrong).toEqual([]);
});

test('README.md has a row for each command, and docs/commands.md says what each connects to', async () => {
  const names = [...(await commands()).keys()].filter((name) => !name.includes(' '));
  const [, rows = ''] = /^## Commands$(.*?)^In a checkout/ms.exec(proseOf('README.md')) ?? [];
  const [, table = ''] = /^## What a command connects to$(.*?)^## /ms.exec(proseOf('docs/commands.md')) ?? [];
  for (const name of names) {
    expect(rows, name).toMatch(new RegExp(`\`(?:trawl )?${name}\\b`));
    expect(table, name).toMatch(new RegExp(`\`${name}\\b`));
  }
});

test('scripts of package.json are called by names that they have', () => {
  const { scripts } = JSON.parse(textOf('package.json'));
  const called = PAGES.flatMap((page) =>
    Array.from(textOf(page).matchAll(/npm run (?:-s )?([\w:]+)/g), ([, name]) => name),
  );
  expect(called.length).toBeGreaterThan(20);
  expect(called.filter((name) => scripts[name ?? ''] === undefined)).toEqual([]);
});
