const [SQLITE_BUSY, SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL] = [5, 10, 11, 13];
const [SQLITE_CANTOPEN, SQLITE_NOTADB] = [14, 26];

export function isSqlite(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/** Whether another process is writing. */
export function isBusy(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY;
}

/** Whether a file could not be opened. SQLite does not say why. */
export function isUnopened(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_CANTOPEN;
}

/** Whether the whole transaction is lost: after these errors, none of its calls can be relied on. */
export function isLost(error: unknown): boolean {
  return [SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL].includes(primaryCodeOf(error));
}

/** Whether the file is not an intact database of this program: a broken disk, or another program, wrote it. */
export function isDamaged(error: unknown): boolean {
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(primaryCodeOf(error));
}

/** Extended codes have the primary one in their lowest byte. */
function primaryCodeOf(error: unknown): number {
  return isSqlite(error) ? ((error as { readonly errcode?: number }).errcode ?? 0) % 256 : 0;
}
