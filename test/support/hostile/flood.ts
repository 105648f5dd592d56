import type { Socket } from 'node:net';

/** Writes a piece again and again until the connection is gone. */
export function flood(socket: Socket, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const write = (): void => {
      if (!socket.destroyed) socket.write(piece, () => setImmediate(write));
    };
    socket.on('error', () => {}).once('close', () => resolve());
    write();
  });
}
