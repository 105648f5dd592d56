import type { CommandModule } from '../command.ts';
import { defineSteering } from './steering.ts';

/** `trawl resume RUN`, `trawl resume --host HOST`: ends a pause. */
export const command: CommandModule = {
  define: (command, exit) => defineSteering('resume', command, exit),
};
