/** A file that was fetched whole. */
export interface FetchedFile {
  readonly run: string;
  readonly body: Uint8Array;
  /** SHA-256 of the body, hex. Serves as the file's name. */
  readonly hash: string;
  /** File extension without the dot, letters and digits only; `undefined` if none is known. */
  readonly extension: string | undefined;
}

/**
 * Where downloaded files go: beside the records of their run, each named by the hash of its content, so that equal content is
 * stored once. When `put` resolves, the whole file is there under its name, and survives a crash or a power cut. It is never
 * there in part. `put` rejects if the file can't be stored, whatever the reason; the task then waits again. Implementation:
 * `sinks/files`.
 */
export interface FileStore {
  /** @returns the file's path below the run's folder, with `/` on every system */
  put(file: FetchedFile): Promise<string>;
}
