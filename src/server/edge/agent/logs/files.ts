// Destinations of agent log lines. A write resolves once all of its lines are written. If it rejects, the file contains
// none of them, since the agent will send them all again.
import { statSync } from "node:fs";
import { mkdir, truncate } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createStream, type RotatingFileStream } from "rotating-file-stream";
import { type Output, standardOutput } from "../../../platform/core/logging/standard-output.ts";
import { StoreUnavailable } from "../../../platform/store/store.ts";

export interface LogDestination {
  /** Complete lines, each with its line feed. Undefined: accepted synchronously. */
  write(lines: string): Promise<void> | undefined;
  stop(): Promise<void>;
}

class DestinationFailed extends StoreUnavailable {}

/** Maximum text (characters) queued for a slow disk. Beyond it writes are rejected, and agents keep their lines. */
const WAITING_MAX = 64 * 1024 * 1024;
/** Maximum text (characters) in one file write. */
const WRITE_MAX = 4 * 1024 * 1024;

export const noDestination: LogDestination = { write: () => undefined, stop: async () => {} };

/** Agents time out after 16 s and send the lines again, so unread lines are rejected before that. */
const STDOUT_MS = 10_000;
/** Time (ms) to flush the remaining lines at shutdown. */
const STDOUT_STOP_MS = 1_000;

export function stdoutDestination(output: Output = standardOutput("stdout")): LogDestination {
  let waitingSize = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    write: (lines) =>
      new Promise((resolve, reject) => {
        if (waitingSize > 0 && waitingSize + lines.length > WAITING_MAX)
          return reject(new DestinationFailed("stdout: too many lines are waiting to be written"));
        waitingSize += lines.length;
        let isRefused = false;
        const late = setTimeout(() => {
          isRefused = true;
          reject(new DestinationFailed("stdout: not read in time"));
        }, STDOUT_MS);
        last = last
          .then(() => (isRefused ? undefined : output.write(Buffer.from(lines))))
          .then(resolve, (error: Error) => reject(new DestinationFailed(`stdout: ${error.message}`)))
          .finally(() => {
            clearTimeout(late);
            waitingSize -= lines.length;
          });
      }),
    stop: () => Promise.race([last, sleep(STDOUT_STOP_MS, undefined, { ref: false })]),
  };
}

interface FileOptions {
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
  /** File size after the last successful write. */
  size: number;
  rotated: boolean;
}

export class FileDestination implements LogDestination {
  readonly #options: FileOptions;
  #waiting: Waiting[] = [];
  #waitingSize = 0;
  #open: Open | null = null;
  #pumping: Promise<void> | null = null;

  constructor(options: FileOptions) {
    this.#options = options;
  }

  write(lines: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waitingSize > 0 && this.#waitingSize + lines.length > WAITING_MAX)
        return reject(new DestinationFailed(`${this.#options.path}: too many lines are waiting to be written`));
      this.#waitingSize += lines.length;
      this.#waiting.push({ lines, resolve, reject });
      // Lines of the current turn of the event loop share one file write.
      this.#pumping ??= new Promise<void>((done) => setImmediate(() => void this.#pump().then(done))).then(() => {
        this.#pumping = null;
      });
    });
  }

  async stop(): Promise<void> {
    while (this.#pumping) await this.#pumping;
    const stream = this.#open?.stream;
    this.#open = null;
    if (stream) await new Promise<void>((done) => stream.end(() => done()));
  }

  async #pump(): Promise<void> {
    const { log, path } = this.#options;
    while (this.#waiting.length > 0) {
      const { batch, size } = this.#nextBatch();
      try {
        await this.#writeAll(batch.map(({ lines }) => lines).join(""));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        log.error({ err: error, file: path }, "lines from agents could not be written");
        for (const { reject } of batch) reject(new DestinationFailed(`${path}: ${String(error)}`));
      }
      this.#waitingSize -= size;
    }
  }

  #nextBatch(): { readonly batch: readonly Waiting[]; readonly size: number } {
    const waiting = this.#waiting;
    let count = 0;
    let size = 0;
    while (count < waiting.length && (count === 0 || size + waiting[count]!.lines.length <= WRITE_MAX))
      size += waiting[count++]!.lines.length;
    this.#waiting = waiting.slice(count);
    return { batch: waiting.slice(0, count), size };
  }

  async #writeAll(text: string): Promise<void> {
    const { log, path } = this.#options;
    this.#open ??= await openFile(this.#options);
    const open = this.#open;
    const { stream } = open;
    open.rotated = false;
    try {
      await new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      });
      // Synchronous: an asynchronous stat would cost more than the write.
      const { size } = statSync(path);
      // On a full disk a write may be partial without an error.
      if (!open.rotated && size < open.size + Buffer.byteLength(text)) throw new Error("the disk accepted only a part");
      open.size = size;
    } catch (error) {
      const { size, rotated } = open;
      this.#open = null;
      stream.destroy();
      // Rotation happens after the write: the lines are stored, only the new file could not be opened.
      if (rotated) return log.error({ err: error, file: path }, "a log file could not be rotated");
      await truncate(path, size).catch(() => {});
      throw error;
    }
  }
}

async function openFile(options: FileOptions): Promise<Open> {
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
  // Errors are also passed to the callback of the write.
  stream.on("error", () => {});
  const opened: Open = { stream, size: statSync(options.path).size, rotated: false };
  stream.on("rotation", () => {
    opened.rotated = true;
  });
  return opened;
}

// `results.log`, then `results.log.1` and so on, with `.gz` if compressed.
const nameOf =
  ({ path, compress }: FileOptions) =>
  (index: number | Date | null): string =>
    index ? `${basename(path)}.${String(index)}${compress ? ".gz" : ""}` : basename(path);
