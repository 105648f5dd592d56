import type { CommandModule } from '../command.ts';
import { defineSteering } from './steering.ts';

/** `trawl seal RUN`: no more seeds will come, whatever became of the producers. */
export const command: CommandModule = {
  define: (command, exit) => defineSteering('seal', command, exit),
};
