// The protocol of managed agents: configuration, scripts, and the token of the host's own page.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Hardware } from "./machine/hardware.ts";
import type { Connection, Reply } from "./net/connection.ts";
import type { Log } from "./options.ts";
import type { ScriptResult } from "./scripts/journal.ts";
import type { Script, ScriptServer } from "./scripts/runner.ts";
import { replaceFile } from "./state/files.ts";
import type { Keys } from "./state/keys.ts";

const PREFIX = "/api/v1/svc/agent";
const DEFAULT_TIMEOUT_S = 300;

/** A reply that is not a success. */
export class Refused extends Error {
  readonly status: number;

  constructor(path: string, { status, text }: Reply) {
    super(`${path}: status ${status}: ${reasonIn(text)}`);
    this.status = status;
  }
}

function reasonIn(text: string): string {
  const reply = objectOf(text);
  const [first] = Array.isArray(reply.errors) ? reply.errors : [];
  return String((first as { reason?: unknown } | undefined)?.reason ?? reply.message ?? text.slice(0, 200));
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

export interface ManagedConfig {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly scripts: readonly string[];
}

interface Parts {
  readonly connection: Connection;
  readonly keys: Keys;
  readonly hardware: Hardware;
  readonly platform: string;
  readonly enrollSecret: string;
  readonly stateDir: string;
  readonly log: Log;
}

export class ManagedAgent implements ScriptServer {
  readonly #parts: Parts;
  #enrolling: Promise<string> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async ping(): Promise<void> {
    const reply = await this.#parts.connection.head(`${PREFIX}/ping`);
    if (reply.status !== 200) throw new Refused("ping", reply);
  }

  async config(): Promise<ManagedConfig> {
    const reply = await this.#call("/config", {});
    const { pending_script_execution_ids: ids } = { ...(reply.notifications as Record<string, unknown> | undefined) };
    return {
      flags: { ...(reply.command_line_startup_flags as Record<string, unknown> | undefined) },
      scripts: Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string") : [],
    };
  }

  /** Gives the host's own page a new address. The file is for whoever opens that page on this machine. */
  async rotateDeviceToken(): Promise<void> {
    const token = randomUUID();
    await this.#call("/device_token", { device_auth_token: token });
    await replaceFile(join(this.#parts.stateDir, "device-token"), `${token}\n`);
  }

  async request(id: string): Promise<Script | null> {
    try {
      const reply = await this.#call("/scripts/request", { execution_id: id });
      const timeout = Number(reply.timeout);
      return { contents: String(reply.script_contents ?? ""), timeout: timeout > 0 ? timeout : DEFAULT_TIMEOUT_S };
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null;
      throw error;
    }
  }

  async deliver(id: string, result: ScriptResult): Promise<void> {
    try {
      await this.#call("/scripts/result", { execution_id: id, ...result });
    } catch (error) {
      // The script was cancelled, or belongs to an earlier enrollment.
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
  }

  /** Refused keys are replaced once: the machine enrolls again, and repeats the call. */
  async #call(path: string, body: object): Promise<Record<string, unknown>> {
    const { connection, keys } = this.#parts;
    for (let isRetry = false; ; isRetry = true) {
      const key = keys.get("agent_node_key") ?? (await this.#enroll());
      const reply = await connection.post(`${PREFIX}${path}`, { agent_node_key: key, ...body });
      if (reply.status === 200 || reply.status === 204) return objectOf(reply.text);
      if (reply.status === 401) await keys.drop("agent_node_key", key);
      if (reply.status !== 401 || isRetry) throw new Refused(path, reply);
    }
  }

  #enroll(): Promise<string> {
    this.#enrolling ??= this.#enrollOnce().finally(() => {
      this.#enrolling = null;
    });
    return this.#enrolling;
  }

  async #enrollOnce(): Promise<string> {
    const { connection, keys, hardware, platform, enrollSecret, log } = this.#parts;
    const reply = await connection.post(`${PREFIX}/enroll`, {
      enroll_secret: enrollSecret,
      hardware_uuid: hardware.uuid,
      hardware_serial: hardware.serial,
      hostname: hardware.hostname,
      computer_name: hardware.computerName,
      hardware_model: hardware.model,
      platform,
      // The query engine's identifier, so that both find the same host.
      qengine_identifier: hardware.uuid,
    });
    const key = objectOf(reply.text).agent_node_key;
    if (typeof key !== "string" || key === "") throw new Refused("enroll", reply);
    await keys.set("agent_node_key", key);
    log("info", "enrolled for scripts and configuration");
    return key;
  }
}
