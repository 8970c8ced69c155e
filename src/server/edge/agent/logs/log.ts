// The log endpoint (docs/protocols/agent.md, Logs). Lines are forwarded unchanged.

import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { Elements, isArrayAt, isObjectAt, parseSpan, type Span } from "../../../platform/agent-protocol/json-scan.ts";
import type { ResultLine } from "../../../platform/agent-protocol/lines.ts";
import { type AgentReply, failure, OK } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { HostState } from "../hosts/state.ts";
import { fileDestination, type LogDestination, noDestination, stdoutDestination } from "./files.ts";

export type ResultListener = (host: HostState, lines: readonly ResultLine[]) => void;

export interface LogIntake {
  /** `members`: the positions of the body's members in `text`. */
  accept(host: HostState, text: string, members: ReadonlyMap<string, Span>): AgentReply | Promise<AgentReply>;
  /** Registers a listener for accepted result lines; returns a function that removes it. */
  onResults(listener: ResultListener): () => void;
  stop(): Promise<void>;
}

type LogType = "result" | "status";

interface Reading {
  readonly text: string;
  readonly span: Elements;
  readonly lines: ResultLine[];
  /** How many more lines may be read. */
  left: number;
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

const everyLine: ResultParts = {
  forwarded: (lines) => lines,
  report: () => undefined,
  failures: () => undefined,
};

export function createLogIntake(
  { settings, log, metrics }: Services,
  { forwarded, report, failures }: ResultParts = everyLine,
): LogIntake {
  const destination = (type: LogType): LogDestination => {
    const kind = settings[`${type}_log`];
    if (kind === "none") return noDestination;
    if (kind === "stdout") return stdoutDestination();
    return fileDestination({
      path:
        settings[`${type}_log_file`] ??
        join(settings.data_dir, "logs", type === "result" ? "results.log" : "status.log"),
      size: settings.log_rotate_size,
      keep: settings.log_rotate_keep,
      compress: settings.log_rotate_compress,
      log,
    });
  };
  const destinations = { result: destination("result"), status: destination("status") };
  const listeners = new Set<ResultListener>();
  const badLines = metrics.agentBadLogs.labels("line");
  const badData = metrics.agentBadLogs.labels("data");
  const badType = metrics.agentBadLogs.labels("log_type");
  const beyond = metrics.agentBadLogs.labels("beyond");

  /** Null for a line that is not a JSON object: it would corrupt the log file, and a retry would not help. */
  function read(text: string, span: Span): ResultLine | null {
    const value = isObjectAt(text, span) ? valueAt(text, span) : null;
    if (value === null) {
      badLines.inc();
      return null;
    }
    const raw = text.slice(span.start, span.end);
    // Line feeds in JSON are insignificant white space.
    return { raw: raw.includes("\n") || raw.includes("\r") ? raw.replace(/[\r\n]/g, " ") : raw, value };
  }

  /** Parses the next part; false at the end. */
  function readPart(reading: Reading): boolean {
    const { text, span, lines } = reading;
    const from = span.end;
    while (span.next()) {
      if (reading.left-- === 0) {
        beyond.inc();
        return false;
      }
      const line = read(text, span);
      if (line) lines.push(line);
      if (span.end - from >= PART_LENGTH) return true;
    }
    return false;
  }

  function deliver(host: HostState, type: LogType, lines: readonly ResultLine[]): AgentReply | Promise<AgentReply> {
    if (lines.length === 0) return OK;
    if (type === "status") {
      const failed = failures(host, lines);
      return failed === undefined ? keep(host, type, lines, lines) : failed.then(() => keep(host, type, lines, lines));
    }
    // Reports first: storing them again is idempotent, while the destination would get duplicates if the agent retries.
    const reported = report(host, lines);
    return reported === undefined ? forward(host, lines) : reported.then(() => forward(host, lines));
  }

  function forward(host: HostState, lines: readonly ResultLine[]): AgentReply | Promise<AgentReply> {
    const kept = forwarded(lines);
    return kept instanceof Promise
      ? kept.then((sifted) => keep(host, "result", lines, sifted))
      : keep(host, "result", lines, kept);
  }

  /** Writes `kept` to the destination; listeners receive all lines. */
  function keep(
    host: HostState,
    type: LogType,
    lines: readonly ResultLine[],
    kept: readonly ResultLine[],
  ): AgentReply | Promise<AgentReply> {
    const accepted = () => {
      if (type === "result")
        for (const listener of listeners) {
          try {
            listener(host, lines);
          } catch (error) {
            log.error({ err: error, host_id: host.id }, "a listener for query results failed");
          }
        }
      return OK;
    };
    if (kept.length === 0) return accepted();
    let text = "";
    for (const { raw } of kept) text += `${raw}\n`;
    const written = destinations[type].write(text);
    if (written === undefined) return accepted();
    return written.then(accepted, (error: unknown) => {
      log.warn({ err: error, host_id: host.id, log_type: type }, "log lines were refused");
      return failure(413, "the log destination cannot accept more lines now; try again", 30);
    });
  }

  async function readOn(host: HostState, type: LogType, reading: Reading): Promise<AgentReply> {
    do await breathe();
    while (readPart(reading));
    return deliver(host, type, reading.lines);
  }

  return {
    accept(host, text, members) {
      const typeAt = members.get("log_type");
      const type = typeAt && parseSpan(text, typeAt);
      if (type !== "result" && type !== "status") {
        badType.inc();
        return failure(400, "unknown log_type");
      }
      const data = members.get("data");
      // An error would make the agent resend the same body forever.
      if (!data || !isArrayAt(text, data)) {
        badData.inc();
        return OK;
      }
      const reading: Reading = { text, span: new Elements(text, data.start), lines: [], left: linesLimit.max };
      return readPart(reading) ? readOn(host, type, reading) : deliver(host, type, reading.lines);
    },
    onResults(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
      await Promise.all([destinations.result.stop(), destinations.status.stop()]);
    },
  };
}

function valueAt(text: string, span: Span): Record<string, unknown> | null {
  try {
    return parseSpan(text, span) as Record<string, unknown>;
  } catch {
    return null;
  }
}
