import type { CommandModule } from '../command.ts';
import { defineSteering } from './steering.ts';

/** `trawl cancel RUN`: waiting URLs are dropped and may be offered again; pages in hand are finished. */
export const command: CommandModule = {
  define: (command, exit) => defineSteering('cancel', command, exit),
};
