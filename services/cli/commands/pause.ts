import type { CommandModule } from '../command.ts';
import { defineSteering } from './steering.ts';

/** `trawl pause RUN`, `trawl pause --host HOST`: nothing of it is released or fetched any more. */
export const command: CommandModule = {
  define: (command, exit) => defineSteering('pause', command, exit),
};
