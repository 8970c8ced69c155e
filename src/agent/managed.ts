// The protocol of managed agents: configuration, scripts, installs, and the token of the host's own page.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { AgentUpdate } from "../agent-wire/update.ts";
import type { BitlockerAction, BitlockerServer } from "./disk-keys/bitlocker.ts";
import type { KeyServer } from "./disk-keys/escrow.ts";
import type { LuksKey } from "./disk-keys/luks.ts";
import type { SetupItem, SetupServer } from "./first-setup.ts";
import type { HostIdentity } from "./identity.ts";
import type { InstallDetails, InstallResult, InstallServer } from "./installs/runner.ts";
import type { Hardware } from "./machine/hardware.ts";
import type { Connection, Reply, StreamedReply } from "./net/connection.ts";
import type { Log } from "./options.ts";
import type { Script, ScriptResult, ScriptServer } from "./scripts/runner.ts";
import { replaceFile } from "./state/files.ts";
import type { Keys } from "./state/keys.ts";

const PREFIX = "/api/v1/svc/agent";
const DEFAULT_TIMEOUT_S = 300;

/** A reply that is not a success. */
export class RequestRefused extends Error {
  readonly status: number;

  constructor(path: string, { status, text, aheadS }: Reply) {
    // Signatures are refused if the clocks differ by five minutes.
    const clock =
      status === 401 && aheadS !== undefined ? `. This machine's clock is wrong by ${inMinutes(aheadS)}` : "";
    super(`${path}: status ${status}: ${reasonIn(text)}${clock}`);
    this.status = status;
  }
}

function inMinutes(seconds: number): string {
  const minutes = Math.round(Math.abs(seconds) / 60);
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
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

interface ManagedConfig {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly scripts: readonly string[];
  /** Software to install. */
  readonly installs: readonly string[];
  /** Whether this machine is new, and its setup has not ended. */
  readonly isSettingUp: boolean;
  /** Whether the server wants a key of the disk. */
  readonly wantsDiskKey: boolean;
  /** What the server wants BitLocker to do; null: nothing. */
  readonly bitlocker: BitlockerAction | null;
  /** A newer agent that the server offers. */
  readonly update: AgentUpdate | null;
}

function updateIn(value: unknown): AgentUpdate | null {
  if (typeof value !== "object" || value === null) return null;
  const { version, sha256, size, signature } = value as Record<string, unknown>;
  const isWhole = typeof version === "string" && typeof sha256 === "string" && typeof signature === "string";
  return isWhole && Number.isSafeInteger(size) ? { version, sha256, size: Number(size), signature } : null;
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((element): element is string => typeof element === "string") : [];

/** Null for a missing, an empty and a blank text. */
const filled = (value: unknown): string | null => (typeof value === "string" && value.trim() !== "" ? value : null);

const isGone = (error: unknown): boolean => error instanceof RequestRefused && error.status === 404;

function itemsIn(value: unknown): SetupItem[] {
  if (typeof value !== "object" || value === null) return [];
  const { name, status, error } = { ...value } as Record<string, unknown>;
  return [{ name: String(name), status: String(status), error: filled(error) }];
}

/** The text of a streamed reply is a function. */
interface KeyedReply {
  readonly status: number;
  readonly text: string | (() => Promise<string>);
}

interface Parts {
  readonly connection: Connection;
  /** Signs the requests. Absent: they are not signed. */
  readonly identity?: HostIdentity | undefined;
  readonly keys: Keys;
  readonly hardware: Hardware;
  readonly platform: string;
  readonly enrollSecret: string;
  readonly stateDir: string;
  readonly log: Log;
  /** After the machine has left a host that another machine has, and before it enrolls again. */
  readonly onLeft?: () => Promise<void>;
}

export class ManagedAgent implements ScriptServer, InstallServer, SetupServer, KeyServer, BitlockerServer {
  readonly #parts: Parts;
  /** The run of this process, and nowhere on the disk: a copy of this machine has another one. */
  readonly #run = randomUUID();
  #enrolling: Promise<string> | null = null;
  #leaving: Promise<void> | null = null;
  #needsToken = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether the host's own page has no address, or the one of another machine. */
  get needsToken(): boolean {
    return this.#needsToken;
  }

  async ping(): Promise<void> {
    const reply = await this.#parts.connection.head(`${PREFIX}/ping`);
    if (reply.status !== 200) throw new RequestRefused("ping", reply);
  }

  async config(): Promise<ManagedConfig> {
    const reply = await this.#call("/config", {});
    if (reply.renew_device_token === true) this.#needsToken = true;
    const notifications = { ...(reply.notifications as Record<string, unknown> | undefined) };
    return {
      flags: { ...(reply.command_line_startup_flags as Record<string, unknown> | undefined) },
      scripts: texts(notifications.pending_script_execution_ids),
      installs: texts(notifications.pending_software_installer_ids),
      isSettingUp: notifications.run_setup_experience === true,
      wantsDiskKey: notifications.run_disk_encryption_escrow === true,
      bitlocker:
        notifications.enforce_bitlocker_encryption === true
          ? "encrypt"
          : notifications.rotate_disk_encryption_key === true
            ? "rotate"
            : null,
      update: updateIn(reply.agent_update),
    };
  }

  /** Gives the host's own page a new address. The file is for whoever opens that page on this machine. */
  async rotateDeviceToken(): Promise<void> {
    const token = randomUUID();
    await this.#call("/device_token", { device_auth_token: token });
    this.#needsToken = false;
    await replaceFile(join(this.#parts.stateDir, "device-token"), `${token}\n`);
  }

  async deliverLuks(data: LuksKey | { readonly client_error: string }): Promise<void> {
    await this.#call("/luks_data", { ...data });
  }

  async deliverBitlocker(data: Parameters<BitlockerServer["deliverBitlocker"]>[0]): Promise<void> {
    await this.#call("/disk_encryption_key", { ...data });
  }

  async request(id: string): Promise<Script | null> {
    try {
      const reply = await this.#call("/scripts/request", { execution_id: id });
      const timeout = Number(reply.timeout);
      return { contents: String(reply.script_contents ?? ""), timeout: timeout > 0 ? timeout : DEFAULT_TIMEOUT_S };
    } catch (error) {
      if (isGone(error)) return null;
      throw error;
    }
  }

  async deliver(id: string, result: ScriptResult): Promise<void> {
    try {
      await this.#call("/scripts/result", { execution_id: id, ...result });
    } catch (error) {
      // The script was cancelled, or belongs to an earlier enrollment.
      if (!isGone(error)) throw error;
    }
  }

  async installDetails(id: string): Promise<InstallDetails | null> {
    try {
      const reply = await this.#call("/software_install/details", { install_uuid: id });
      return {
        installerId: Number(reply.installer_id),
        sha256: filled(reply.installer_sha256)?.toLowerCase() ?? null,
        timeout: Number(reply.timeout) > 0 ? Number(reply.timeout) : null,
        preInstallQuery: filled(reply.pre_install_condition),
        installScript: filled(reply.install_script),
        postInstallScript: filled(reply.post_install_script),
        uninstallScript: filled(reply.uninstall_script),
      };
    } catch (error) {
      if (isGone(error)) return null;
      throw error;
    }
  }

  openPackage(installerId: number, headers: Record<string, string>, signal: AbortSignal): Promise<StreamedReply> {
    const path = `${PREFIX}/software_install/package?alt=media`;
    return this.#withKey(async (key) => {
      const body = { ...this.#caller(key), installer_id: installerId };
      const all = { ...headers, ...(await this.#signature(path, body)) };
      const reply = await this.#parts.connection.stream(path, body, all, signal);
      if (reply.status !== 409) return reply;
      // The text is looked at here, and can be read only once.
      const text = await reply.text();
      return { ...reply, text: () => Promise.resolve(text) };
    });
  }

  async deliverInstall(id: string, result: InstallResult): Promise<void> {
    try {
      await this.#call("/software_install/result", { install_uuid: id, ...result });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  async startSetup(): Promise<void> {
    await this.#call("/setup_experience/init", {});
  }

  async setupItems(): Promise<SetupItem[]> {
    const reply = await this.#call("/setup_experience/status", {});
    const { software, script } = { ...(reply.setup_experience_results as Record<string, unknown> | undefined) };
    return [...(Array.isArray(software) ? software : []), script].flatMap(itemsIn);
  }

  async #call(path: string, body: object): Promise<Record<string, unknown>> {
    const reply = await this.#withKey((key) => this.#post(path, { ...this.#caller(key), ...body }));
    if (reply.status !== 200 && reply.status !== 204) throw new RequestRefused(path, reply);
    return objectOf(reply.text);
  }

  async #post(path: string, body: object): Promise<Reply> {
    const whole = `${PREFIX}${path}`;
    return this.#parts.connection.post(whole, body, await this.#signature(whole, body));
  }

  async #signature(path: string, body: object): Promise<Record<string, string>> {
    return (await this.#parts.identity?.headersFor("POST", path, JSON.stringify(body))) ?? {};
  }

  #caller(key: string) {
    return { agent_node_key: key, agent_machine: this.#machine() };
  }

  #machine() {
    return { run: this.#run, hardware_uuid: this.#parts.hardware.uuid };
  }

  /** Refused keys are replaced once: the machine enrolls again, and repeats the call. */
  async #withKey<R extends KeyedReply>(send: (key: string) => Promise<R>): Promise<R> {
    const { keys } = this.#parts;
    for (let isRetry = false; ; isRetry = true) {
      const key = keys.get("agent_node_key") ?? (await this.#enroll());
      const reply = await send(key);
      const isLost = reply.status === 401 || (await this.#hasLeft(reply, key));
      if (reply.status === 401) await keys.drop("agent_node_key", key);
      if (!isLost || isRetry) return reply;
    }
  }

  /** Leaves the host if another machine has it, from which this one was copied. */
  async #hasLeft(reply: KeyedReply, key: string | null): Promise<boolean> {
    if (reply.status !== 409) return false;
    const text = typeof reply.text === "string" ? reply.text : await reply.text();
    const { errors } = objectOf(text);
    const [first] = Array.isArray(errors) ? errors : [];
    const name = (first as { name?: unknown } | undefined)?.name;
    if (name !== "machine" && name !== "hardware_uuid") return false;
    const { keys, log, onLeft } = this.#parts;
    // Several calls may be refused at the same time.
    if (keys.get("agent_node_key") !== key) return true;
    this.#leaving ??= (async () => {
      log("warn", reasonIn(text));
      await keys.leaveHost(name === "machine");
      await onLeft?.();
    })().finally(() => {
      this.#leaving = null;
    });
    await this.#leaving;
    return true;
  }

  #enroll(): Promise<string> {
    this.#enrolling ??= this.#enrollOnce().finally(() => {
      this.#enrolling = null;
    });
    return this.#enrolling;
  }

  async #enrollOnce(isRetry = false): Promise<string> {
    const { keys, hardware, platform, enrollSecret, log } = this.#parts;
    const reply = await this.#post("/enroll", {
      enroll_secret: enrollSecret,
      hardware_uuid: hardware.uuid,
      hardware_serial: hardware.serial,
      hostname: hardware.hostname,
      computer_name: hardware.computerName,
      hardware_model: hardware.model,
      platform,
      // The query engine's identifier, so that both find the same host.
      qengine_identifier: keys.identifier,
      agent_machine: this.#machine(),
    });
    if (!isRetry && (await this.#hasLeft(reply, null))) return this.#enrollOnce(true);
    const { agent_node_key: key, agent_update_key: updateKey } = objectOf(reply.text);
    if (typeof key !== "string" || key === "") throw new RequestRefused("enroll", reply);
    // The first one stays: whoever pretends to be the server later cannot replace it.
    const storedKey = keys.get("update_key");
    if (storedKey === null) await keys.set("update_key", filled(updateKey));
    else if (filled(updateKey) !== storedKey)
      log("warn", "the server signs updates with another key than before: they will not be installed");
    await keys.set("agent_node_key", key);
    this.#needsToken = true;
    log("info", "enrolled for scripts and configuration");
    return key;
  }
}
