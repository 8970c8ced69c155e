import type { UploadRow } from "./service.ts";

/**
 * Records what has arrived of one request while more arrives, one record at a time. A disk that is slower than the
 * sender does not hold the sender up: the next record then contains all that has arrived meanwhile.
 */
export class Recording {
  readonly #record: (before: UploadRow, arrived: number) => Promise<UploadRow>;
  #row: UploadRow;
  #arrived: number;
  #running: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(row: UploadRow, record: (before: UploadRow, arrived: number) => Promise<UploadRow>) {
    this.#row = row;
    this.#arrived = row.received;
    this.#record = record;
  }

  /** The upload has arrived up to this position. After a failure, nothing is recorded: a second sync may hide the first. */
  upTo(arrived: number): void {
    if (this.#failure !== null || arrived <= this.#arrived) return;
    this.#arrived = arrived;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#row.received < this.#arrived) this.#row = await this.#record(this.#row, this.#arrived);
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#running = null;
    }
  }

  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Resolves when no record is being written, whether it failed or not. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** The row with all that has arrived. Throws why it could not be recorded. */
  async end(): Promise<UploadRow> {
    await this.settled();
    this.throwFailure();
    return this.#row;
  }
}
