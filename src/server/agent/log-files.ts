// Where lines from agents go. A write resolves when the destination has taken all of its lines; when it rejects, none of
// them stays in the file, since the agent will send all of them again.
import { statSync } from "node:fs";
import { mkdir, truncate } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Logger } from "pino";
import { createStream, type RotatingFileStream } from "rotating-file-stream";
import { StoreUnavailable } from "../store/store.ts";

export interface LogDestination {
  /** Whole lines, each with its line feed. Undefined: taken at once. */
  write(lines: string): Promise<void> | undefined;
  stop(): Promise<void>;
}

export class DestinationFailed extends StoreUnavailable {}

/** Text that waits for a slow disk, at most; more is refused and stays with the agents. */
const WAITING_MAX = 64 * 1024 * 1024;
/** Text at most in one write to the file. */
const WRITE_MAX = 4 * 1024 * 1024;

export const noDestination: LogDestination = { write: () => undefined, stop: async () => {} };

export const stdoutDestination: LogDestination = {
  write: (lines) =>
    new Promise((resolve, reject) => {
      if (process.stdout.writableLength > WAITING_MAX) return reject(new DestinationFailed("stdout is too slow"));
      process.stdout.write(lines, (error) => (error ? reject(new DestinationFailed(error.message)) : resolve()));
    }),
  stop: async () => {},
};

export interface FileOptions {
  readonly path: string;
  /** `10K`, `500M`, `2G`. */
  readonly size: string;
  readonly keep: number;
  readonly compress: boolean;
  readonly log: Logger;
}

interface Waiting {
  readonly lines: string;
  resolve(): void;
  reject(error: Error): void;
}

interface Open {
  readonly stream: RotatingFileStream;
  /** Bytes in the file after the last good write. */
  size: number;
  rotated: boolean;
}

export function fileDestination(options: FileOptions): LogDestination {
  let waiting: Waiting[] = [];
  let waitingSize = 0;
  let open: Open | null = null;
  let pumping: Promise<void> | null = null;

  async function reopen(): Promise<Open> {
    await mkdir(dirname(options.path), { recursive: true });
    const stream = createStream(nameOf(options), {
      path: dirname(options.path),
      size: options.size as `${number}M`,
      rotate: options.keep,
      ...(options.compress ? { compress: "gzip" } : {}),
      mode: 0o600,
    });
    await new Promise<void>((resolve, reject) => {
      stream.once("open", () => resolve());
      stream.once("error", reject);
    });
    // Errors arrive at the write's callback too.
    stream.on("error", () => {});
    const opened: Open = { stream, size: statSync(options.path).size, rotated: false };
    stream.on("rotation", () => {
      opened.rotated = true;
    });
    return opened;
  }

  async function writeAll(text: string): Promise<void> {
    open ??= await reopen();
    const { stream } = open;
    open.rotated = false;
    try {
      await new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      });
      // Synchronous: it looks at memory only, and by way of another thread it would cost more than the write.
      const { size } = statSync(options.path);
      // A full disk may take a part of a write without an error.
      if (!open.rotated && size < open.size + Buffer.byteLength(text)) throw new Error("the disk took a part only");
      open.size = size;
    } catch (error) {
      const { size, rotated } = open;
      open = null;
      stream.destroy();
      // The file rotates after the lines were written: they are kept, only the next ones need a new file.
      if (rotated) return options.log.error({ err: error, file: options.path }, "a log file could not be rotated");
      await truncate(options.path, size).catch(() => {});
      throw error;
    }
  }

  async function pump(): Promise<void> {
    while (waiting.length > 0) {
      let count = 0;
      let size = 0;
      while (count < waiting.length && (count === 0 || size + waiting[count]!.lines.length <= WRITE_MAX))
        size += waiting[count++]!.lines.length;
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      try {
        await writeAll(batch.map(({ lines }) => lines).join(""));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        options.log.error({ err: error, file: options.path }, "lines from agents could not be written");
        for (const { reject } of batch) reject(new DestinationFailed(`${options.path}: ${String(error)}`));
      }
      waitingSize -= size;
    }
  }

  return {
    write: (lines) =>
      new Promise((resolve, reject) => {
        if (waitingSize > 0 && waitingSize + lines.length > WAITING_MAX)
          return reject(new DestinationFailed(`${options.path}: too much waits to be written`));
        waitingSize += lines.length;
        waiting.push({ lines, resolve, reject });
        // What the event loop has in hand now goes into the same write.
        pumping ??= new Promise<void>((done) => setImmediate(() => void pump().then(done))).then(() => {
          pumping = null;
        });
      }),
    async stop() {
      while (pumping) await pumping;
      const stream = open?.stream;
      open = null;
      if (stream) await new Promise<void>((done) => stream.end(() => done()));
    },
  };
}

/** `results.log`, then `results.log.1` and on, `.gz` when compressed. */
const nameOf =
  ({ path, compress }: FileOptions) =>
  (index: number | Date | null): string =>
    index ? `${basename(path)}.${String(index)}${compress ? ".gz" : ""}` : basename(path);
