export type LogType = "result" | "status";
export type LogLine = { text: string; id: string | null; sends: number; order: number };

const MAX_LINES = 1_000_000;
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * The lines that an agent keeps until they are accepted: with a limit, results before statuses, and a back-off for
 * each type.
 */
export class LogBuffer {
  readonly #lines: Record<LogType, LogLine[]> = { result: [], status: [] };
  readonly #failures: Record<LogType, number> = { result: 0, status: 0 };
  readonly #blockedUntil: Record<LogType, number> = { result: 0, status: 0 };
  #order = 0;
  readonly #dropped: (line: LogLine, type: LogType) => void;
  readonly #maxLines: number;

  constructor(dropped: (line: LogLine, type: LogType) => void, maxLines: number = MAX_LINES) {
    this.#dropped = dropped;
    this.#maxLines = maxLines;
  }

  get size(): number {
    return this.#lines.result.length + this.#lines.status.length;
  }

  all(type: LogType): readonly LogLine[] {
    return this.#lines[type];
  }

  add(type: LogType, text: string, id: string | null): void {
    const line: LogLine = { text, id, sends: 0, order: this.#order++ };
    if (text.length > MAX_LINE_BYTES) {
      this.#dropped(line, type);
      return;
    }
    this.#lines[type].push(line);
    if (this.size > this.#maxLines) this.#dropOldest();
  }

  /**
   * The next requests, with at most `limit` lines of both types together. Statuses are not sent while there are too
   * many results.
   */
  due(now: number, limit: number): { type: LogType; lines: LogLine[] }[] {
    const results = this.#lines.result.slice(0, limit);
    const statuses = this.#lines.status.slice(0, limit - results.length);
    return [
      { type: "result" as const, lines: results },
      { type: "status" as const, lines: statuses },
    ].filter(({ type, lines }) => lines.length > 0 && this.#blockedUntil[type] <= now);
  }

  accepted(type: LogType, sent: readonly LogLine[]): void {
    // By order number, not by count, because the oldest lines may have been dropped during the request.
    const last = sent.at(-1)?.order ?? -1;
    const lines = this.#lines[type];
    let count = 0;
    while (count < lines.length && lines[count]!.order <= last) count++;
    lines.splice(0, count);
    this.#failures[type] = 0;
    this.#blockedUntil[type] = 0;
  }

  /** Delays the next request of this type by period × n², at most `maxMs`. */
  refused(type: LogType, now: number, periodMs: number, maxMs: number): void {
    const n = ++this.#failures[type];
    this.#blockedUntil[type] = now + Math.min(periodMs * n * n, maxMs);
  }

  #dropOldest(): void {
    const [result, status] = [this.#lines.result[0], this.#lines.status[0]];
    const type: LogType = !status || (result && result.order < status.order) ? "result" : "status";
    this.#dropped(this.#lines[type].shift() as LogLine, type);
  }
}
