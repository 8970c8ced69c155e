import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

/** Column of `decorations` that carries a line's id when a ledger is kept. */
export const LINE_ID = "simulated_line";

export type LedgerState = "acknowledged" | "pending" | "dropped";

/**
 * A file of `<id> <type> <times sent> <state>` lines, one per log line, written when its fate is known. Lines sent more than once may
 * rightly stand more than once in the server's log: the first answer was lost on the way.
 */
export class Ledger {
  private readonly file: number;
  private buffer: string[] = [];

  constructor(path: string) {
    this.file = openSync(path, "w", 0o600);
  }

  note(id: string, type: string, sends: number, state: LedgerState): void {
    this.buffer.push(`${id} ${type} ${sends} ${state}\n`);
    if (this.buffer.length >= 512) this.flush();
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }

  private flush(): void {
    if (this.buffer.length > 0) writeSync(this.file, this.buffer.join(""));
    this.buffer = [];
  }
}

export type LedgerCheck = {
  acknowledged: number;
  found: number;
  /** Acknowledged, but not in the logs. */
  lost: string[];
  /** More often in the logs than it was sent. */
  doubled: string[];
};

/** Compares a ledger with the server's own logs (any text files that hold the raw lines). */
export async function checkLedger(ledgerFile: string, logFiles: string[]): Promise<LedgerCheck> {
  const seen = new Map<string, number>();
  const id = new RegExp(`"${LINE_ID}":\\s*"([^"]+)"`, "g");
  for (const file of logFiles) {
    for await (const line of linesOf(file)) {
      // A logger may wrap the raw line as a JSON string; its quotes are then escaped.
      for (const match of line.replaceAll('\\"', '"').matchAll(id)) seen.set(match[1]!, (seen.get(match[1]!) ?? 0) + 1);
    }
  }
  const check: LedgerCheck = { acknowledged: 0, found: 0, lost: [], doubled: [] };
  for await (const line of linesOf(ledgerFile)) {
    const [key = "", , sends = "0", state] = line.split(" ");
    const times = seen.get(key) ?? 0;
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
