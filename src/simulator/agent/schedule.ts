import { hashText } from "../random.ts";
import type { SqlAnswer, TextRow } from "../sql/answer.ts";
import type { ConfigQuery, SelectedQuery } from "./config.ts";

type Entry = {
  name: string;
  query: ConfigQuery;
  /** The interval in seconds, including the host's splay. */
  every: number;
  dueAt: number;
  counter: number;
  executions: number;
  lastExecuted: number;
  outputSize: number;
  previous: Set<string> | null;
};

export type LineForms = { eventType: boolean; snapshotEventType: boolean; epoch: number; old: boolean };
type Common = { hostIdentifier: string; unixTime: number };
export type Line = Record<string, unknown>;

/** The scheduled queries of one agent, and the log lines that they produce. */
export class Schedule {
  #entries = new Map<string, Entry>();
  readonly #identifier: string;

  constructor(identifier: string) {
    this.#identifier = identifier;
  }

  /** Replaces the selected queries. Queries that stay keep their counter and previous rows. */
  replace(selected: SelectedQuery[], now: number, splayPercent: number, toMs: (seconds: number) => number): void {
    const entries = new Map<string, Entry>();
    for (const { name, query } of selected) {
      const every = splay(query.interval, splayPercent, `${this.#identifier}/${name}`);
      const old = this.#entries.get(name);
      const dueAt = old && old.every === every ? old.dueAt : now + toMs(every);
      entries.set(name, {
        name,
        query,
        every,
        dueAt,
        counter: old?.counter ?? 0,
        executions: old?.executions ?? 0,
        lastExecuted: old?.lastExecuted ?? 0,
        outputSize: old?.outputSize ?? 0,
        previous: old?.previous ?? null,
      });
    }
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.size;
  }

  nextDue(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#entries.values()) next = Math.min(next, entry.dueAt);
    return next;
  }

  stats() {
    return [...this.#entries.values()].map((entry) => ({
      name: entry.name,
      query: entry.query.query,
      interval: entry.query.interval,
      executions: entry.executions,
      lastExecuted: entry.lastExecuted,
      outputSize: entry.outputSize,
    }));
  }

  /** Runs the due queries and returns their log lines. */
  run(
    now: number,
    common: Common,
    forms: LineForms,
    toMs: (seconds: number) => number,
    answer: (sql: string) => SqlAnswer,
  ): Line[] {
    const lines: Line[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.dueAt > now) continue;
      entry.dueAt = now + toMs(entry.every);
      const result = answer(entry.query.query);
      entry.executions++;
      entry.lastExecuted = common.unixTime;
      if (result.status !== 0) continue;
      entry.outputSize += result.rows.length * 100;
      lines.push(
        ...(entry.query.snapshot
          ? snapshot(entry, result.rows, common, forms)
          : changes(entry, result.rows, common, forms)),
      );
    }
    return lines;
  }
}

function snapshot(entry: Entry, rows: TextRow[], common: Common, forms: LineForms): Line[] {
  const fields = commonFields(entry.name, 0, common, forms);
  if (forms.snapshotEventType) return rows.map((columns) => ({ columns, ...fields, action: "snapshot" }));
  return [{ snapshot: rows, action: "snapshot", ...fields }];
}

/** Differential results: the rows added and removed since the last run. Event tables only add rows. */
function changes(entry: Entry, rows: TextRow[], common: Common, forms: LineForms): Line[] {
  const events = /\bfrom\s+\w+_events\b/i.test(entry.query.query);
  const first = entry.previous === null;
  const keys = rows.map((row) => JSON.stringify(row));
  const previous = entry.previous ?? new Set<string>();
  const current = new Set(keys);
  const added = events ? rows : rows.filter((_, i) => !previous.has(keys[i] as string));
  const removed =
    events || !entry.query.removed
      ? []
      : [...previous].filter((key) => !current.has(key)).map((key) => JSON.parse(key));
  entry.previous = events ? new Set() : current;
  if (!first || events) {
    if (added.length + removed.length === 0) return [];
    entry.counter++;
  }
  const fields = commonFields(entry.name, entry.counter, common, forms);
  if (!forms.eventType) return [{ diffResults: { removed, added }, ...fields }];
  return [
    ...removed.map((columns) => ({ ...fields, columns, action: "removed" })),
    ...added.map((columns) => ({ ...fields, columns, action: "added" })),
  ];
}

export function commonFields(
  name: string,
  counter: number,
  common: Common,
  forms: Pick<LineForms, "epoch" | "old">,
): Line {
  const number = (value: number) => (forms.old ? String(value) : value);
  return {
    name,
    hostIdentifier: common.hostIdentifier,
    calendarTime: calendarTime(common.unixTime),
    unixTime: number(common.unixTime),
    epoch: number(forms.epoch),
    counter: number(counter),
    numerics: false,
  };
}

/** The format of asctime, in UTC: `Tue Sep 30 17:37:30 2014 UTC`. */
export function calendarTime(unixTime: number): string {
  const [day, date, month, year, time] = new Date(unixTime * 1000)
    .toUTCString()
    .replace(",", "")
    .split(" ") as string[];
  return `${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year} UTC`;
}

/** Shifts an interval by up to this percentage. The shift is constant for each host and interval. */
function splay(interval: number, percent: number, key: string): number {
  const most = Math.floor((interval * percent) / 100);
  if (most < 1) return interval;
  return Math.max(1, interval - most + (hashText(key) % (2 * most + 1)));
}
