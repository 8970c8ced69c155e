// Writes the log without ever blocking the code that logs. Lines are queued for a slow reader up to a limit. Lines
// beyond the limit, and lines that the system rejects (a full disk, a closed pipe), are dropped and counted.
import { writeSync } from "node:fs";
import { type Output, OutputFailed, standardOutput } from "./standard-output.ts";

/** Maximum length of the queued text. */
const WAITING_MAX = 4 * 1024 * 1024;
/** Maximum length of one write. */
const WRITE_MAX = 256 * 1024;
/** Pause after a failed write. */
const RETRY_MS = 1_000;
const NEWLINE = 0x0a;

export class LogSink {
  /** Number of lines that were not written. */
  lost = 0;
  #waiting: string[] = [];
  #size = 0;
  #pumping = false;
  #retry: NodeJS.Timeout | null = null;
  #reported = 0;
  #writing = false;
  readonly #output: Output;
  #drained: (() => void)[] = [];

  constructor(output: Output) {
    this.#output = output;
  }

  /** Queues a line, which must end with a line feed. */
  write(line: string): void {
    if (this.#size + line.length > WAITING_MAX) {
      this.lost++;
      return;
    }
    this.#waiting.push(line);
    this.#size += line.length;
    if (!this.#pumping && this.#retry === null) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#waiting.length > 0) {
      const bytes = this.#take();
      this.#writing = true;
      try {
        await this.#output.write(bytes);
      } catch (error) {
        this.#drop(bytes, error instanceof OutputFailed ? error.written : 0);
        this.#retry = setTimeout(() => {
          this.#retry = null;
          void this.#pump();
        }, RETRY_MS);
        this.#retry.unref();
        break;
      } finally {
        this.#writing = false;
      }
      this.#reportLoss();
    }
    this.#pumping = false;
    if (this.#isEmpty) for (const resolve of this.#drained.splice(0)) resolve();
  }

  #take(): Buffer {
    let count = 0;
    let length = 0;
    while (count < this.#waiting.length && length < WRITE_MAX) length += this.#waiting[count++]!.length;
    this.#size -= length;
    return Buffer.from(this.#waiting.splice(0, count).join(""));
  }

  #drop(bytes: Buffer, written: number): void {
    for (let at = bytes.indexOf(NEWLINE, written); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) this.lost++;
  }

  #reportLoss(): void {
    if (this.lost === this.#reported) return;
    const lines = this.lost - this.#reported;
    this.#reported = this.lost;
    const msg = "lines of this log were lost because they could not be written";
    this.write(`${JSON.stringify({ level: 40, time: new Date().toISOString(), lines, msg })}\n`);
  }

  get #isEmpty(): boolean {
    return !this.#writing && this.#waiting.length === 0;
  }

  /**
   * Waits until the queue is empty, up to a time limit. Returns false if lines are still queued; they are dropped
   * when the process ends.
   */
  async flush(milliseconds: number): Promise<boolean> {
    if (this.#isEmpty) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([late, new Promise<void>((resolve) => this.#drained.push(resolve))]);
    clearTimeout(timer);
    return this.#isEmpty;
  }

  /** A final, synchronous attempt when the process exits without a regular stop. */
  writeLast(fd: number): void {
    if (this.#waiting.length === 0) return;
    try {
      writeSync(fd, this.#waiting.join(""));
      this.#waiting = [];
    } catch {
      // Nothing else can be done at this point.
    }
  }
}

let stderr: LogSink | null = null;

/** The sink for this process's stderr. */
export function stderrSink(): LogSink {
  if (stderr !== null) return stderr;
  const sink = new LogSink(standardOutput("stderr"));
  process.once("exit", () => sink.writeLast(2));
  stderr = sink;
  return sink;
}
