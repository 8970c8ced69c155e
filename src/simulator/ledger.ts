import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

/** The column of `decorations` that contains a line's id if a ledger is written. */
export const LINE_ID = "simulated_line";

type LedgerState = "acknowledged" | "pending" | "dropped";

/**
 * A file with one line `<id> <type> <times sent> <state>` per log line, written when its final state is known. A line
 * that was sent more than once may occur more than once in the server's log, because the first reply was lost.
 */
export class Ledger {
  readonly #file: number;
  #buffer: string[] = [];

  constructor(path: string) {
    this.#file = openSync(path, "w", 0o600);
  }

  note(id: string, type: string, sends: number, state: LedgerState): void {
    this.#buffer.push(`${id} ${type} ${sends} ${state}\n`);
    if (this.#buffer.length >= 512) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    if (this.#buffer.length > 0) writeSync(this.#file, this.#buffer.join(""));
    this.#buffer = [];
  }
}

export type LedgerCheck = {
  acknowledged: number;
  found: number;
  /** Acknowledged, but missing from the logs. */
  lost: string[];
  /** More often in the logs than it was sent. */
  doubled: string[];
};

/** Compares a ledger with the server's logs (any text files that contain the raw lines). */
export async function checkLedger(ledgerFile: string, logFiles: string[]): Promise<LedgerCheck> {
  const timesById = new Map<string, number>();
  const id = new RegExp(`"${LINE_ID}":\\s*"([^"]+)"`, "g");
  for (const file of logFiles) {
    for await (const line of linesOf(file)) {
      // A logger may wrap the raw line in a JSON string, in which its quotes are escaped.
      for (const match of line.replaceAll('\\"', '"').matchAll(id))
        timesById.set(match[1]!, (timesById.get(match[1]!) ?? 0) + 1);
    }
  }
  const check: LedgerCheck = { acknowledged: 0, found: 0, lost: [], doubled: [] };
  for await (const line of linesOf(ledgerFile)) {
    const [key = "", , sends = "0", state] = line.split(" ");
    const times = timesById.get(key) ?? 0;
    if (times > 0) check.found++;
    if (times > Number(sends)) check.doubled.push(key);
    if (state !== "acknowledged") continue;
    check.acknowledged++;
    if (times === 0) check.lost.push(key);
  }
  return check;
}

function linesOf(file: string) {
  return createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}
