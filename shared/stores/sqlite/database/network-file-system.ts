import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Numbers of file systems in `statfs(2)` on Linux, named as in `linux/magic.h`. */
const NFS_SUPER_MAGIC = 0x6969;
const SMB_SUPER_MAGIC = 0x517b;
const CIFS_SUPER_MAGIC = 0xff534d42;
const SMB2_SUPER_MAGIC = 0xfe534d42;
const FUSE_SUPER_MAGIC = 0x65735546;
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [NFS_SUPER_MAGIC, 'NFS'],
  [SMB_SUPER_MAGIC, 'SMB'],
  [CIFS_SUPER_MAGIC, 'SMB'],
  [SMB2_SUPER_MAGIC, 'SMB'],
  [FUSE_SUPER_MAGIC, 'FUSE'],
]);

/**
 * Returns the kind of file system that a file is on, if processes can't share memory there: NFS, SMB or FUSE. Undefined for others,
 * and on systems other than Linux, where the numbers mean something else, or nothing.
 */
export function networkFileSystemOf(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return NETWORK_FILE_SYSTEMS.get(statfsSync(dirname(path)).type);
  } catch {
    // Whatever is wrong with the folder, opening the file reports it better.
    return undefined;
  }
}
