// The log endpoint (docs/protocols/agent.md, Logs). Lines are forwarded unchanged.

import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { Elements, isArrayAt, isObjectAt, parseSpan, type Span } from "../../../platform/agent-protocol/json-scan.ts";
import type { ResultLine } from "../../../platform/agent-protocol/lines.ts";
import { type AgentReply, failure, OK } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";
import type { HostState } from "../hosts/state.ts";
import { FileDestination, type LogDestination, noDestination, stdoutDestination } from "./files.ts";

export type ResultListener = (host: HostState, lines: readonly ResultLine[]) => void;

type LogType = "result" | "status";

interface Reading {
  readonly text: string;
  readonly span: Elements;
  readonly lines: ResultLine[];
  /** How many more lines may be read. */
  linesLeft: number;
}

/** Text (characters) parsed before yielding to the event loop. */
const PART_LENGTH = 1024 * 1024;
/** By default agents send at most 1,024 lines. Lines beyond this are ignored: if refused, they would be sent again. */
export const linesLimit = limit({
  what: "lines of one log message of a query agent",
  max: 100_000,
  unit: "entries",
  per: "message",
  beyond: "The message is refused.",
});

/** Selects the result lines to write to the destination. */
type Sieve = (lines: readonly ResultLine[]) => readonly ResultLine[] | Promise<readonly ResultLine[]>;
/** Stores result lines for reports before the request is acknowledged. Undefined: nothing to store. */
type Keeper = (host: HostState, lines: readonly ResultLine[]) => Promise<void> | undefined;

interface ResultParts {
  readonly forwarded: Sieve;
  readonly report: Keeper;
  /** Reads lines of the status log before they are written. */
  readonly failures: Keeper;
}

export class LogIntake {
  readonly #log: Services["log"];
  readonly #parts: ResultParts;
  readonly #destinations: Readonly<Record<LogType, LogDestination>>;
  readonly #listeners = new Set<ResultListener>();
  readonly #badLines;
  readonly #badData;
  readonly #badType;
  readonly #beyond;

  constructor({ settings, log, metrics }: Services, parts: ResultParts) {
    this.#log = log;
    this.#parts = parts;
    this.#destinations = {
      result: destinationOf("result", settings, log),
      status: destinationOf("status", settings, log),
    };
    this.#badLines = metrics.agentBadLogs.labels("line");
    this.#badData = metrics.agentBadLogs.labels("data");
    this.#badType = metrics.agentBadLogs.labels("log_type");
    this.#beyond = metrics.agentBadLogs.labels("beyond");
  }

  /** `members`: the positions of the body's members in `text`. */
  accept(host: HostState, text: string, members: ReadonlyMap<string, Span>): AgentReply | Promise<AgentReply> {
    const typeAt = members.get("log_type");
    const type = typeAt && parseSpan(text, typeAt);
    if (type !== "result" && type !== "status") {
      this.#badType.inc();
      return failure(400, "unknown log_type");
    }
    const data = members.get("data");
    // An error would make the agent resend the same body forever.
    if (!data || !isArrayAt(text, data)) {
      this.#badData.inc();
      return OK;
    }
    const reading: Reading = { text, span: new Elements(text, data.start), lines: [], linesLeft: linesLimit.max };
    return this.#readPart(reading) ? this.#readOn(host, type, reading) : this.#deliver(host, type, reading.lines);
  }

  /** Registers a listener for accepted result lines; returns a function that removes it. */
  onResults(listener: ResultListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#destinations.result.stop(), this.#destinations.status.stop()]);
  }

  async #readOn(host: HostState, type: LogType, reading: Reading): Promise<AgentReply> {
    do await breathe();
    while (this.#readPart(reading));
    return this.#deliver(host, type, reading.lines);
  }

  /** Parses the next part; false at the end. */
  #readPart(reading: Reading): boolean {
    const { text, span, lines } = reading;
    const from = span.end;
    while (span.next()) {
      if (reading.linesLeft-- === 0) {
        this.#beyond.inc();
        return false;
      }
      const line = this.#read(text, span);
      if (line) lines.push(line);
      if (span.end - from >= PART_LENGTH) return true;
    }
    return false;
  }

  /** Null for a line that is not a JSON object: it would corrupt the log file, and a retry would not help. */
  #read(text: string, span: Span): ResultLine | null {
    const value = isObjectAt(text, span) ? valueAt(text, span) : null;
    if (value === null) {
      this.#badLines.inc();
      return null;
    }
    const raw = text.slice(span.start, span.end);
    // Line feeds in JSON are insignificant white space.
    return { raw: raw.includes("\n") || raw.includes("\r") ? raw.replace(/[\r\n]/g, " ") : raw, value };
  }

  #deliver(host: HostState, type: LogType, lines: readonly ResultLine[]): AgentReply | Promise<AgentReply> {
    if (lines.length === 0) return OK;
    if (type === "status") {
      const stored = this.#parts.failures(host, lines);
      return stored === undefined
        ? this.#write(host, type, lines, lines)
        : stored.then(() => this.#write(host, type, lines, lines));
    }
    // Reports first: storing them again is idempotent, while the destination would get duplicates if the agent retries.
    const stored = this.#parts.report(host, lines);
    return stored === undefined ? this.#forward(host, lines) : stored.then(() => this.#forward(host, lines));
  }

  #forward(host: HostState, lines: readonly ResultLine[]): AgentReply | Promise<AgentReply> {
    const forwarded = this.#parts.forwarded(lines);
    return forwarded instanceof Promise
      ? forwarded.then((sifted) => this.#write(host, "result", lines, sifted))
      : this.#write(host, "result", lines, forwarded);
  }

  /** Writes `forwarded` to the destination; listeners receive all lines. */
  #write(
    host: HostState,
    type: LogType,
    lines: readonly ResultLine[],
    forwarded: readonly ResultLine[],
  ): AgentReply | Promise<AgentReply> {
    if (forwarded.length === 0) return this.#accepted(host, type, lines);
    let text = "";
    for (const { raw } of forwarded) text += `${raw}\n`;
    const written = this.#destinations[type].write(text);
    if (written === undefined) return this.#accepted(host, type, lines);
    return written.then(
      () => this.#accepted(host, type, lines),
      (error: unknown) => {
        this.#log.warn({ err: error, host_id: host.id, log_type: type }, "log lines were refused");
        return failure(413, "the log destination cannot accept more lines now; try again", 30);
      },
    );
  }

  #accepted(host: HostState, type: LogType, lines: readonly ResultLine[]): AgentReply {
    if (type === "result")
      for (const listener of this.#listeners) {
        try {
          listener(host, lines);
        } catch (error) {
          this.#log.error({ err: error, host_id: host.id }, "a listener for query results failed");
        }
      }
    return OK;
  }
}

function destinationOf(type: LogType, settings: Settings, log: Services["log"]): LogDestination {
  const kind = settings[`${type}_log`];
  if (kind === "none") return noDestination;
  if (kind === "stdout") return stdoutDestination();
  return new FileDestination({
    path:
      settings[`${type}_log_file`] ?? join(settings.data_dir, "logs", type === "result" ? "results.log" : "status.log"),
    size: settings.log_rotate_size,
    keep: settings.log_rotate_keep,
    compress: settings.log_rotate_compress,
    log,
  });
}

function valueAt(text: string, span: Span): Record<string, unknown> | null {
  try {
    return parseSpan(text, span) as Record<string, unknown>;
  } catch {
    return null;
  }
}
