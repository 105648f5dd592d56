/** A file that was fetched whole. */
export interface FetchedFile {
  readonly run: string;
  readonly body: Uint8Array;
  /** SHA-256 of the body, hex: its name. */
  readonly hash: string;
  /** The end of its name, without a dot; nothing if none is known. Letters and digits only. */
  readonly extension: string | undefined;
}

/**
 * Where downloaded files go: beside the records of their run, each under the hash of its content, so that the same content is
 * stored once. When `put` resolves, the whole file is there under its name, and a crash or power cut no longer loses it; it never
 * is there in part. Rejects when it can't be stored, whatever the reason: the task then waits again. Implementation:
 * `sinks/files`.
 */
export interface FileStore {
  /** @returns its path below the run's folder, with `/` on every system */
  put(file: FetchedFile): Promise<string>;
}
