// The log endpoint (agent protocol, section 5): lines go on as the agent wrote them.
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import type { Services } from "../core/context.ts";
import type { HostState } from "./host-state.ts";
import { Elements, isArrayAt, isObjectAt, parseSpan, type Span } from "./json-scan.ts";
import { fileDestination, type LogDestination, noDestination, stdoutDestination } from "./log-files.ts";
import { type AgentReply, failure, OK } from "./wire.ts";

export interface ResultLine {
  /** One line of JSON, as the agent wrote it. */
  readonly raw: string;
  readonly value: Readonly<Record<string, unknown>>;
}
export type ResultListener = (host: HostState, lines: readonly ResultLine[]) => void;

export interface LogIntake {
  /** `members` are those of the body, whose text this is. */
  accept(host: HostState, text: string, members: ReadonlyMap<string, Span>): AgentReply | Promise<AgentReply>;
  /** Called with result lines that were accepted. */
  onResults(listener: ResultListener): () => void;
  stop(): Promise<void>;
}

type LogType = "result" | "status";

interface Reading {
  readonly text: string;
  readonly span: Elements;
  readonly lines: ResultLine[];
  /** How many more lines are read. */
  left: number;
}

/** Text read in one go, with room for others before the next part. */
const AT_ONCE = 1024 * 1024;
/** Agents send 1,024 lines at most unless told otherwise. What is beyond this many is passed over: refused, it would come again. */
const LINES_MAX = 100_000;

/** The result lines that go to the destination. */
export type Sieve = (lines: readonly ResultLine[]) => readonly ResultLine[] | Promise<readonly ResultLine[]>;

export function createLogIntake({ settings, log, metrics }: Services, forwarded: Sieve = (lines) => lines): LogIntake {
  const destination = (type: LogType): LogDestination => {
    const kind = settings[`${type}_log`];
    if (kind === "none") return noDestination;
    if (kind === "stdout") return stdoutDestination;
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

  /** A line that is no JSON object would spoil the file for its readers; sending it again would not mend it. */
  function read(text: string, span: Span): ResultLine | null {
    const value = isObjectAt(text, span) ? valueAt(text, span) : null;
    if (value === null) {
      badLines.inc();
      return null;
    }
    const raw = text.slice(span.start, span.end);
    // A line feed in JSON is white space between its parts.
    return { raw: raw.includes("\n") || raw.includes("\r") ? raw.replace(/[\r\n]/g, " ") : raw, value };
  }

  /** Reads on for a part's length; false: that was the last. */
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
      if (span.end - from >= AT_ONCE) return true;
    }
    return false;
  }

  function deliver(host: HostState, type: LogType, lines: readonly ResultLine[]): AgentReply | Promise<AgentReply> {
    if (lines.length === 0) return OK;
    if (type === "status") return keep(host, type, lines, lines);
    const kept = forwarded(lines);
    return kept instanceof Promise
      ? kept.then((sifted) => keep(host, type, lines, sifted))
      : keep(host, type, lines, kept);
  }

  /** Writes what goes to the destination; listeners get all. */
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
            log.error({ err: error, host_id: host.id }, "query results could not be taken");
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
      return failure(413, "the log destination cannot take more now; try again", 30);
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
      // An error would make the agent send the same again for ever.
      if (!data || !isArrayAt(text, data)) {
        badData.inc();
        return OK;
      }
      const reading: Reading = { text, span: new Elements(text, data.start), lines: [], left: LINES_MAX };
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
