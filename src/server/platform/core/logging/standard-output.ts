// Writes to stdout and stderr such that a slow or missing reader never stops the process.
import { fstatSync, write } from "node:fs";

/** The reason why a write ended before all bytes were written. */
export class OutputFailed extends Error {
  /** Number of bytes that were written. */
  readonly written: number;

  constructor(cause: Error, written: number) {
    super(cause.message, { cause });
    this.written = written;
  }
}

export interface Output {
  /**
   * Writes whole lines; only one call at a time. Resolves when the system has accepted all bytes; rejects with
   * `OutputFailed`.
   */
  write(lines: Buffer): Promise<void>;
}

const NEWLINE = 0x0a;
/** Interval for retries while a terminal or device is full. */
const BUSY_MS = 50;

const writeOnce = (fd: number, bytes: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.length, null, (error, written) => (error ? reject(error) : resolve(written)));
  });

/** Files and devices are written with file system calls, because a Node stream stays broken after its first error. */
function fileOutput(fd: number): Output {
  /** Whether the last write ended in the middle of a line. */
  let isCut = false;
  return {
    async write(lines) {
      const added = isCut ? 1 : 0;
      const bytes = isCut ? Buffer.concat([Buffer.from("\n"), lines]) : lines;
      let written = 0;
      try {
        while (written < bytes.length) {
          try {
            written += await writeOnce(fd, bytes.subarray(written));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
            await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
          }
        }
      } catch (error) {
        throw new OutputFailed(error as Error, Math.max(0, written - added));
      } finally {
        if (written > 0) isCut = bytes[written - 1] !== NEWLINE;
      }
    },
  };
}

/** Pipes and sockets are written with Node's stream, which waits for the reader without blocking a thread. */
const streamOutput = (stream: NodeJS.WritableStream): Output => {
  // Errors are also passed to the callback of the write.
  stream.on("error", () => {});
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error ? reject(new OutputFailed(error, 0)) : resolve()));
      }),
  };
};

export function standardOutput(name: "stdout" | "stderr"): Output {
  const fd = name === "stdout" ? 1 : 2;
  try {
    const kind = fstatSync(fd);
    return kind.isFIFO() || kind.isSocket() ? streamOutput(process[name]) : fileOutput(fd);
  } catch {
    // The descriptor was closed before the process started: each write fails and reports it.
    return fileOutput(fd);
  }
}
