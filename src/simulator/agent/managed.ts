import type { Machine } from "../inventory/machine.ts";
import type { Endpoint } from "../stats.ts";
import { Timer } from "../wheel.ts";
import type { Channel } from "../wire/transport.ts";
import { Installs } from "./installs.ts";
import type { World } from "./world.ts";

const CONFIG_S = 30;
/** While the host is set up. */
const SETUP_S = 5;
const TOKEN_S = 3600;
const MAX_ENROLL_WAIT_S = 600;
/** The simulated running time of a script, in seconds. */
const SCRIPT_S = 1;
const FIELDS =
  "User-Agent: svc-agent/1.40.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n" as const;

/** Packages may be large: a part shows that they can be downloaded. */
const PART_FIELD = "Range: bytes=0-65535\r\n";

type MachineState = "unlocked" | "locked" | "wiped";
type Result = { execution_id: string; output: string; runtime: number; exit_code: number; timeout: number };
type Pending = {
  pending_script_execution_ids?: string[];
  pending_software_installer_ids?: string[];
  run_setup_experience?: boolean;
};
type Answer = { status: number; json: Record<string, unknown> };

/** The server's own scripts, recognized by their second line. Other scripts have no effect. */
const EFFECTS: [RegExp, MachineState][] = [
  [/^# Locks this computer\b/m, "locked"],
  [/^# Unlocks this computer\b/m, "unlocked"],
  [/^# Erases this computer\b/m, "wiped"],
];

/**
 * The managed agent beside a stock one: it enrolls, fetches its configuration, sends device tokens and simulates
 * running scripts.
 */
export class ManagedAgent {
  state: MachineState = "unlocked";
  /** Called when the machine was wiped. */
  onWiped: () => void = () => {};
  readonly #world: World;
  readonly #machine: Machine;
  readonly #channel: Channel;
  readonly #identifier: string;
  readonly #configTimer = new Timer(() => void this.#configTick());
  readonly #tokenTimer = new Timer(() => void this.#tokenTick());
  readonly #results: Result[] = [];
  readonly #installs: Installs;
  #key: string | null = null;
  #enrolling: Promise<boolean> | null = null;
  #tokens = 0;
  #scripts = 0;
  #busy = 0;
  #isSettingUp = false;

  constructor(world: World, machine: Machine, channel: Channel, identifier: string) {
    this.#world = world;
    this.#machine = machine;
    this.#channel = channel;
    this.#identifier = identifier;
    this.#installs = new Installs(world, machine, (endpoint, body) => this.#call(endpoint, body));
  }

  /** The number of results of scripts and installations that the server has not accepted. */
  get undelivered(): number {
    return this.#results.length + this.#installs.undelivered;
  }

  async start(): Promise<void> {
    await this.#tokenTick();
    await this.#configTick();
  }

  /** Ends the loops. Undelivered results are kept for `flush`. */
  stop(): void {
    for (const timer of [this.#configTimer, this.#tokenTimer]) this.#world.wheel.disarm(timer);
  }

  /** Resolves when no loop has a call in progress. */
  async idle(): Promise<void> {
    while (this.#busy > 0) await new Promise((resolve) => this.#world.wheel.after(10, () => resolve(null)));
  }

  async flush(): Promise<void> {
    if (this.#key !== null) await this.#deliver();
  }

  async #configTick(): Promise<void> {
    await this.#guarded(async () => {
      const answer = await this.#call("managed_config", {});
      const pending: Pending = { ...(answer?.json.notifications as Pending | undefined) };
      for (const execution_id of pending.pending_script_execution_ids ?? []) await this.#runScript(execution_id);
      for (const install_uuid of pending.pending_software_installer_ids ?? []) await this.#installs.run(install_uuid);
      await this.#deliver();
      await this.#setUp(pending.run_setup_experience === true);
    });
    this.#rearm(this.#configTimer, this.#isSettingUp ? SETUP_S : CONFIG_S);
  }

  /** Asks for the progress of the setup for as long as the server wants it, which begins one item after the other. */
  async #setUp(isWanted: boolean): Promise<void> {
    if (isWanted && !this.#isSettingUp && !(await this.#call("managed_setup_init", {}))) return;
    this.#isSettingUp = isWanted;
    if (isWanted) await this.#call("managed_setup_status", { force_release: false });
  }

  async #tokenTick(): Promise<void> {
    await this.#guarded(async () => {
      const device_auth_token = this.#machine.random(50_000 + this.#tokens++).uuid();
      await this.#call("managed_token", { device_auth_token });
    });
    this.#rearm(this.#tokenTimer, TOKEN_S);
  }

  /** Runs a script once. The server lists a script until it has the result, even while the result is being sent. */
  async #runScript(executionId: string): Promise<void> {
    if (this.#world.stopping || this.#results.some(({ execution_id }) => execution_id === executionId)) return;
    const answer = await this.#call("managed_script_request", { execution_id: executionId });
    if (!answer) return;
    const { script_contents, timeout } = answer.json as { script_contents?: string; timeout?: number };
    await this.#world.sleep(this.#world.interval(SCRIPT_S));
    this.#results.push({
      execution_id: executionId,
      runtime: SCRIPT_S,
      timeout: timeout ?? 300,
      ...this.#pretend(script_contents ?? ""),
    });
  }

  #pretend(contents: string): Pick<Result, "exit_code" | "output"> {
    if (!this.#machine.runsScripts) return { exit_code: -2, output: "Scripts are disabled" };
    if (this.#machine.random(60_000 + this.#scripts++).chance(this.#world.settings.scriptFailures))
      return { exit_code: 1, output: "FAILED: simulated failure" };
    const effect = EFFECTS.find(([text]) => text.test(contents))?.[1];
    if (effect === undefined) return { exit_code: 0, output: "simulated: the script was not run" };
    this.state = effect;
    return { exit_code: 0, output: this.state };
  }

  async #deliver(): Promise<void> {
    for (let first = this.#results[0]; first !== undefined; first = this.#results[0]) {
      if (!(await this.#call("managed_script_result", first))) return;
      this.#results.shift();
      this.#world.stats.scriptsRun++;
    }
    await this.#installs.deliver();
    if (this.state !== "wiped") return;
    // The result was the last request of this machine.
    this.stop();
    this.onWiped();
  }

  /** A call with the key. Null if it failed. A refused key is dropped, and the next call enrolls. */
  async #call(endpoint: Endpoint, body: Record<string, unknown>): Promise<Answer | null> {
    if (this.#key === null && !(await this.#enroll())) return null;
    const key = this.#key;
    const answer = await this.#exchange(endpoint, { agent_node_key: key, ...body });
    if (!answer) return null;
    if ([200, 204, 206].includes(answer.status)) return answer;
    const { stats } = this.#world;
    stats.failed(endpoint, `status ${answer.status}`);
    if (answer.status === 401) {
      stats.nodeInvalid++;
      if (this.#key === key) this.#key = null;
    }
    // The subject of the result was cancelled or belongs to an earlier enrollment, so it is not sent again.
    const isResult = endpoint === "managed_script_result" || endpoint === "managed_install_result";
    return answer.status === 404 && isResult ? answer : null;
  }

  #enroll(): Promise<boolean> {
    this.#enrolling ??= this.#enrollSeries().finally(() => {
      this.#enrolling = null;
    });
    return this.#enrolling;
  }

  async #enrollSeries(): Promise<boolean> {
    const machine = this.#machine;
    const world = this.#world;
    const { settings, stats } = world;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#exchange("managed_enroll", {
        enroll_secret: settings.enrollSecret,
        hardware_uuid: machine.uuid,
        hardware_serial: machine.serial,
        hostname: machine.hostname,
        computer_name: machine.computerName,
        platform: machine.platform.platform || machine.platform.family,
        qengine_identifier: this.#identifier,
      });
      const key = answer?.json.agent_node_key;
      if (typeof key === "string") {
        this.#key = key;
        return true;
      }
      if (answer) stats.failed("managed_enroll", `status ${answer.status}`);
      if (world.stopping || attempt === settings.enrollAttempts) return false;
      await world.sleep(Math.min(attempt * attempt, MAX_ENROLL_WAIT_S) * 1000);
    }
  }

  /** Sends one request and counts it. Null if no complete reply was received. */
  async #exchange(endpoint: Endpoint, content: Record<string, unknown>): Promise<Answer | null> {
    const { stats, wheel } = this.#world;
    const started = wheel.now();
    const body = JSON.stringify(content);
    const exchange = await this.#channel.exchange({
      path: this.#world.pathOf(endpoint),
      fields: endpoint === "managed_install_package" ? FIELDS + PART_FIELD : FIELDS,
      body,
    });
    const ms = wheel.now() - started;
    if (exchange.ok) {
      const { status, bytes, body: text } = exchange.answer;
      stats.answered(endpoint, status, ms, body.length, bytes);
      return { status, json: objectOf(text) };
    }
    if (exchange.reason === "stopped") return null;
    stats.unanswered(endpoint, exchange.reason, ms);
    stats.failed(endpoint, `${exchange.reason}: ${exchange.detail}`);
    return null;
  }

  #rearm(timer: Timer, seconds: number): void {
    if (this.#world.stopping || (this.state === "wiped" && this.#results.length === 0)) return;
    this.#world.wheel.arm(timer, this.#world.interval(seconds));
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    if (this.#world.paused || this.#world.stopping) return;
    this.#busy++;
    try {
      await work();
    } finally {
      this.#busy--;
    }
  }
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
