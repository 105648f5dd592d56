import type { CommandModule } from '../command.ts';
import { defineSteering } from './steering.ts';

/** `trawl cancel RUN`: what waits is dropped and may be offered again; what is under way is finished. */
export const command: CommandModule = {
  define: (command, exit) => defineSteering('cancel', command, exit),
};
