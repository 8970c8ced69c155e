import { gzipSync } from "node:zlib";
import type { Machine } from "../inventory/machine.ts";
import { LINE_ID } from "../ledger.ts";
import { mix, Random } from "../random.ts";
import type { SqlAnswer, TextRow } from "../sql/answer.ts";
import type { Channel } from "../wire/transport.ts";
import type { Caller } from "./caller.ts";
import type { Decorators } from "./config.ts";
import { LogBuffer, type LogLine, type LogType } from "./log-buffer.ts";
import { calendarTime, commonFields, type Line } from "./schedule.ts";
import type { World } from "./world.ts";

type Flags = Readonly<Record<string, string>>;

/** The name of result lines that the simulator generates. The server has no query with this name. */
const GENERATED_NAME = "simulated_events";

/** The logger thread of one agent. */
export class Logger {
  readonly buffer: LogBuffer;
  readonly #world: World;
  readonly #machine: Machine;
  readonly #identifier: string;
  #decorators: Decorators | null = null;
  #loaded: TextRow = {};
  #lines = 0;
  #generated = 0;
  #statuses = 0;
  #generatedFor = 0;

  constructor(world: World, machine: Machine, identifier: string) {
    this.#world = world;
    this.#machine = machine;
    this.#identifier = identifier;
    this.buffer = new LogBuffer((line, type) => {
      world.stats.droppedLines++;
      if (line.id) world.ledger?.note(line.id, type, line.sends, "dropped");
    });
  }

  decorate(decorators: Decorators, answer: (sql: string) => SqlAnswer): void {
    this.#decorators = decorators;
    this.#loaded = decorations(decorators.load, answer);
  }

  results(lines: Line[], answer: (sql: string) => SqlAnswer): void {
    const always = this.#decorators?.always.length ? decorations(this.#decorators.always, answer) : {};
    for (const line of lines) this.#add("result", line, { ...this.#loaded, ...always });
  }

  status(severity: number, filename: string, message: string, version: string): void {
    if (severity < Number(this.#world.settings.flags.logger_min_status ?? 0)) return;
    const unixTime = this.#world.unixTime();
    const time = this.#machine.old ? String(unixTime) : unixTime;
    const at = { hostIdentifier: this.#identifier, calendarTime: calendarTime(unixTime), unixTime: time };
    this.#add("status", { ...at, severity: String(severity), filename, line: "213", message, version }, this.#loaded);
  }

  /** Adds the whole lines that are due by the settings since the last call. */
  generate(startedAt: number): void {
    const { settings, wallClock, rateFactor } = this.#world;
    const now = wallClock() / 1000;
    const from = this.#generatedFor || startedAt;
    this.#generatedFor = now;
    const minutes = (Math.max(0, now - from) / 60 / settings.scale) * rateFactor;
    this.#generated += minutes * settings.logLinesPerMinute;
    this.#statuses += (minutes / 60) * settings.statusLinesPerHour;
    for (; this.#generated >= 1; this.#generated--)
      this.#add("result", this.#generatedLine(Math.floor(now)), this.#loaded);
    for (; this.#statuses >= 1; this.#statuses--) {
      this.status(1, "scheduler.cpp", "Scheduled query took longer than its interval", this.#machine.agentVersion);
    }
  }

  /** One round: sends each type that has lines and is not in back-off. */
  async send(caller: Caller, channel: Channel, flags: Flags): Promise<boolean> {
    const limit = Number(flags.logger_tls_max_lines ?? 1024);
    let ok = true;
    for (const { type, lines } of this.buffer.due(this.#world.wheel.now(), limit)) {
      ok = (await this.#sendLines(caller, channel, flags, type, lines)) && ok;
    }
    return ok;
  }

  /** Sends until the buffer is empty or a request is refused. */
  async flush(caller: Caller, channel: Channel, flags: Flags): Promise<void> {
    while (this.buffer.size > 0) {
      const before = this.buffer.size;
      if (!(await this.send(caller, channel, flags)) || this.buffer.size === before) return;
    }
  }

  /** Records the lines that were never acknowledged. */
  close(): void {
    for (const type of ["result", "status"] as const) {
      for (const line of this.buffer.all(type))
        if (line.id) this.#world.ledger?.note(line.id, type, line.sends, "pending");
    }
  }

  async #sendLines(caller: Caller, channel: Channel, flags: Flags, type: LogType, lines: LogLine[]): Promise<boolean> {
    const { stats, wheel, ledger } = this.#world;
    for (const line of lines) line.sends++;
    const data = lines.map((line) => line.text).join(",");
    const outcome = await caller.call("log", channel, 1, (key) => {
      const text = `{"node_key":"${key}","log_type":"${type}","data":[${data}]}`;
      return flags.logger_tls_compress === "true" ? { gzip: gzipSync(text, GZIP) } : text;
    });
    for (const line of lines) line.sends += outcome.sends - 1;
    if (!outcome.ok) {
      const period = this.#world.interval(Number(flags.logger_tls_period ?? 10));
      this.buffer.refused(type, wheel.now(), period, Number(flags.logger_tls_backoff_max ?? 3600) * 1000);
      return false;
    }
    this.buffer.accepted(type, lines);
    stats.acknowledgedLines += lines.length;
    if (ledger) for (const line of lines) if (line.id) ledger.note(line.id, type, line.sends, "acknowledged");
    return true;
  }

  #add(type: LogType, line: Line, extra: TextRow): void {
    const id = this.#world.ledger ? `${this.#world.runId}-${this.#machine.index}-${this.#lines++}` : null;
    const marks = id ? { ...extra, [LINE_ID]: id } : extra;
    const whole = Object.keys(marks).length > 0 ? { ...line, decorations: marks } : line;
    this.buffer.add(type, JSON.stringify(whole), id);
  }

  #generatedLine(unixTime: number): Line {
    const random = new Random(mix(this.#machine.seed, this.#lines, unixTime));
    const common = { hostIdentifier: this.#identifier, unixTime };
    const forms = { epoch: 0, old: this.#machine.old };
    return {
      ...commonFields(GENERATED_NAME, this.#lines, common, forms),
      columns: {
        pid: String(random.int(2, 60_000)),
        path: "/usr/bin/example",
        eid: random.hex(12),
        time: String(unixTime),
      },
      action: "added",
    };
  }
}

/** One row per query. Later columns replace earlier ones. */
function decorations(queries: string[], answer: (sql: string) => SqlAnswer): TextRow {
  return Object.assign({}, ...queries.map((sql) => answer(sql).rows[0] ?? {}));
}

/**
 * A small window, because a call has few lines and setting up zlib's usual 256 KiB costs more than the compression.
 */
const GZIP = { level: 4, memLevel: 5, windowBits: 13 } as const;
