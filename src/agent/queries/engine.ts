// The query engine of machines without osqueryd: it fetches queries, answers them, and reports the results.
import { discover, readWork, type Work } from "../../agent-wire/work.ts";
import type { SecondProcess } from "../isolated/second-process.ts";
import type { Hardware } from "../machine/hardware.ts";
import type { OperatingSystem } from "../machine/os.ts";
import type { Connection } from "../net/connection.ts";
import type { AgentOptions } from "../options.ts";
import type { Keys } from "../state/keys.ts";
import { ENGINE_VERSION, platformMask } from "../tables/system.ts";
import { EngineCalls } from "./calls.ts";
import { IsolatedSession } from "./isolated-session.ts";
import type { SqlAnswer } from "./sqlite.ts";

const ENROLL_TABLES = ["os_version", "osquery_info", "system_info", "platform_info"];
const ACCELERATED_S = 5;

/** The flags with which the server recommends to start osqueryd. Options of the configuration replace them. */
const DEFAULT_FLAGS: Readonly<Record<string, string>> = {
  config_refresh: "60",
  disable_distributed: "false",
  distributed_interval: "10",
  host_identifier: "uuid",
  logger_tls_period: "10",
  pack_delimiter: "/",
};

interface Parts {
  readonly options: AgentOptions;
  readonly keys: Keys;
  readonly hardware: Hardware;
  readonly os: OperatingSystem;
  readonly connection: Connection;
  /** Answers the queries. */
  readonly secondProcess: SecondProcess;
}

interface Result {
  readonly answer: SqlAnswer;
  readonly ms: number;
}

/** Bytes of results in one message; the server accepts 8 MiB. */
const MESSAGE_BYTES = 7_000_000;

/** The results that fit into one message. One that is too large by itself is replaced by an error. */
function firstThatFit(results: readonly (readonly [string, Result])[]): (readonly [string, Result])[] {
  const fit: (readonly [string, Result])[] = [];
  let bytes = 0;
  for (const [name, result] of results) {
    const size = Buffer.byteLength(JSON.stringify([name, result]));
    if (size > MESSAGE_BYTES) {
      const message = `the result is larger than ${MESSAGE_BYTES / 1e6} MB: select fewer rows or columns`;
      fit.push([name, { ...result, answer: { status: 1, message, rows: [] } }]);
      continue;
    }
    bytes += size;
    if (bytes > MESSAGE_BYTES && fit.length > 0) break;
    fit.push([name, result]);
  }
  return fit;
}

export class QueryEngine {
  readonly #parts: Parts;
  readonly #calls: EngineCalls;
  readonly #startedAt = Math.floor(Date.now() / 1000);
  readonly #unsent = new Map<string, Result>();
  #flags: Readonly<Record<string, string>> = DEFAULT_FLAGS;
  #acceleratedUntil = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { connection, keys, options } = parts;
    this.#calls = new EngineCalls({ connection, keys, log: options.log, enrollBody: () => this.#enrollBody() });
  }

  turns(): [name: string, turn: () => Promise<number>][] {
    return [
      ["query configuration", () => this.#configTurn()],
      ["queries", () => this.#distributedTurn()],
    ];
  }

  /** Answers one query of the server's that is no live query, such as one that decides about an install. */
  async answer(sql: string): Promise<SqlAnswer> {
    const session = this.#session();
    try {
      return await session.answer(sql);
    } finally {
      await session.close();
    }
  }

  async #configTurn(): Promise<number> {
    const { options } = { ...(await this.#calls.call("config", {})) };
    const served = Object.entries({ ...(options as Record<string, unknown> | undefined) });
    const changed = served.filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
    this.#flags = { ...this.#flags, ...Object.fromEntries(changed.map(([name, value]) => [name, String(value)])) };
    return this.#seconds("config_refresh");
  }

  async #distributedTurn(): Promise<number> {
    const work = readWork(await this.#calls.call("distributed/read", {}));
    if (work.accelerate > 0) this.#acceleratedUntil = Date.now() + work.accelerate * 1000;
    if (work.queries.length > 0) await this.#run(work);
    if (this.#unsent.size > 0) await this.#write();
    return this.#acceleratedUntil > Date.now() ? ACCELERATED_S : this.#seconds("distributed_interval");
  }

  async #run(work: Work): Promise<void> {
    const session = this.#session();
    try {
      // Discovery queries are answered first, because `discover` needs all their answers at once.
      const answers = new Map<string, SqlAnswer>();
      for (const [, sql] of work.discovery) if (!answers.has(sql)) answers.set(sql, await session.answer(sql));
      for (const [name, sql] of discover(work, ENGINE_VERSION, (query) => answers.get(query)!)) {
        const started = performance.now();
        const answer = await session.answer(sql);
        this.#unsent.set(name, { answer, ms: Math.round(performance.now() - started) });
      }
    } finally {
      await session.close();
    }
  }

  /** Results are kept, and sent with newer ones, until the server has accepted them. */
  async #write(): Promise<void> {
    while (this.#unsent.size > 0) {
      const sent = firstThatFit([...this.#unsent]);
      const of = <T>(value: (result: Result) => T) =>
        Object.fromEntries(sent.map(([name, result]) => [name, value(result)]));
      await this.#calls.call("distributed/write", {
        queries: of(({ answer }) => answer.rows),
        statuses: of(({ answer }) => answer.status),
        messages: of(({ answer }) => answer.message),
        stats: of(({ ms }) => ({ wall_time_ms: ms, user_time: ms, system_time: 0, memory: 0 })),
      });
      for (const [name] of sent) this.#unsent.delete(name);
    }
  }

  #session(): IsolatedSession {
    const { hardware, os, keys, options, secondProcess } = this.#parts;
    return new IsolatedSession(secondProcess, {
      hardware,
      os,
      instanceId: keys.instanceId,
      agentVersion: options.version,
      runsScripts: options.runsScripts,
      startedAt: this.#startedAt,
      flags: this.#flags,
    });
  }

  async #enrollBody(): Promise<object> {
    const { options, keys } = this.#parts;
    const session = this.#session();
    try {
      const details: Record<string, Record<string, string>> = {};
      for (const table of ENROLL_TABLES) {
        const [row] = (await session.answer(`SELECT * FROM ${table}`)).rows;
        if (row !== undefined) details[table] = row;
      }
      return {
        enroll_secret: options.enrollSecret,
        host_identifier: keys.identifier,
        // Servers that identify hosts by their UUID make an exception.
        ...(keys.isSeparate ? { is_separate: true } : {}),
        platform_type: String(platformMask()),
        host_details: details,
      };
    } finally {
      await session.close();
    }
  }

  #seconds(flag: string): number {
    const value = Number(this.#flags[flag]);
    return value > 0 ? value : 60;
  }
}
