import { discover, readWork } from "../../agent-wire/work.ts";
import type { Machine } from "../inventory/machine.ts";
import { discoveryAnswer } from "../inventory/registry.ts";
import { MachineView } from "../inventory/view.ts";
import { answerSql } from "../sql/answer.ts";
import { Timer } from "../wheel.ts";
import type { Channel } from "../wire/transport.ts";
import { Caller } from "./caller.ts";
import { Carver } from "./carver.ts";
import { type AgentConfig, readConfig, selectQueries } from "./config.ts";
import { type PreparedAnswer, prepared, Results } from "./distributed.ts";
import { enrollBody, identifierOf } from "./enroll-body.ts";
import { sharedFlags, stretchedFlags } from "./flags.ts";
import { Logger } from "./logger.ts";
import { Schedule } from "./schedule.ts";
import type { World } from "./world.ts";

const READ_ATTEMPTS = 3;
const WRITE_ATTEMPTS = 3;
const CONFIG_ATTEMPTS = 3;
const ACCELERATED_S = 5;
const SOFTWARE = /\b(FROM|JOIN)\s+(apps|programs|\w+_packages|\w+_extensions|firefox_addons)\b/i;

export type Channels = { config: Channel; distributed: Channel; log: Channel; carver?: Channel };

/**
 * A stock agent: it enrolls, then runs three loops (config, distributed queries, logs) and the schedule of its
 * config.
 */
export class SimulatedAgent {
  readonly machine: Machine;
  readonly identifier: string;
  readonly results = new Results();
  readonly logger: Logger;
  readonly carver: Carver;
  /** The number of accepted writes. After the first one the server has the host's inventory. */
  accepted = 0;
  readonly #world: World;
  readonly #channels: Channels;
  readonly #caller: Caller;
  readonly #schedule: Schedule;
  readonly #configTimer = new Timer(() => void this.#configTick());
  readonly #distributedTimer = new Timer(() => void this.#distributedTick());
  readonly #logTimer = new Timer(() => void this.#logTick());
  readonly #scheduleTimer = new Timer(() => this.#scheduleTick());
  readonly #startedAt: number;
  readonly #bootedAt: number;
  #config: AgentConfig | null = null;
  #flags: Readonly<Record<string, string>>;
  #acceleratedUntil = 0;
  #changes = 0;
  #reports = 0;
  #busy = 0;
  #ended = false;
  #polling: Promise<boolean> | null = null;
  /** The answers of the first report, by query. */
  #prepared: ReadonlyMap<string, PreparedAnswer> = new Map();
  /** Collects the queries of all polls, if it is set. */
  seenQueries: Set<string> | null = null;

  constructor(world: World, machine: Machine, channels: Channels) {
    this.#world = world;
    this.machine = machine;
    this.#channels = channels;
    this.#flags = world.settings.flags;
    this.identifier = identifierOf(machine, world.settings.hostIdentifier);
    this.#startedAt = world.unixTime();
    this.#bootedAt = this.#startedAt - machine.random(5).int(60, 30 * 86_400);
    this.#schedule = new Schedule(this.identifier);
    this.logger = new Logger(world, machine, this.identifier);
    const body = () => enrollBody(world.settings.enrollSecret, this.identifier, this.#view());
    this.#caller = new Caller(world, machine.agentVersion, body);
    this.carver = new Carver(world, machine, this.#caller, channels.carver ?? channels.distributed);
  }

  get nodeKey(): string | null {
    return this.#caller.nodeKey;
  }

  /** Enrolls, fetches the config, reads and writes immediately, then starts each loop with its own interval. */
  async start(): Promise<void> {
    await this.#configTick();
    if (this.#world.stopping || this.#ended) return;
    this.#world.wheel.arm(this.#logTimer, this.#world.interval(this.#seconds("logger_tls_period")));
    await this.#distributedTick();
  }

  /** Polls immediately, as after a restart. Returns true if both calls succeeded. */
  async checkIn(): Promise<boolean> {
    const [config, read] = await Promise.all([this.#fetchConfig(), this.pollOnce()]);
    return config && read;
  }

  /** Uses the node key of an earlier run: the next call checks in instead of enrolling. */
  resume(nodeKey: string): void {
    this.#caller.resume(nodeKey);
  }

  /** Resolves when no loop has a call in progress. */
  async idle(): Promise<void> {
    while (this.#busy > 0) await new Promise((resolve) => this.#world.wheel.after(10, () => resolve(null)));
  }

  /** Ends the loops. Buffered data is kept for `flush`. */
  stop(): void {
    this.#ended = true;
    for (const timer of [this.#configTimer, this.#distributedTimer, this.#logTimer, this.#scheduleTimer]) {
      this.#world.wheel.disarm(timer);
    }
  }

  /** Tries one last time to deliver buffered data. */
  async flush(): Promise<void> {
    if (this.#caller.nodeKey === null) return;
    if (this.results.size > 0) await this.#write(1);
    await this.logger.flush(this.#caller, this.#channels.log, this.#flags);
  }

  /** Answers these queries now, for the next poll that contains them. */
  prepare(queries: Iterable<string>): void {
    const view = this.#view();
    this.#prepared = new Map([...queries].map((sql) => [sql, prepared(answerSql(sql, view))]));
  }

  /** One read, then one write with all results. Returns false if either failed. Concurrent callers share one poll. */
  pollOnce(): Promise<boolean> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #poll(): Promise<boolean> {
    const { machine } = this;
    const caller = this.#caller;
    const world = this.#world;
    const read = await caller.call("distributed_read", this.#channels.distributed, READ_ATTEMPTS, nodeKeyBody);
    if (read.ok && read.json) {
      const work = readWork(read.json);
      if (work.accelerate > 0) this.#acceleratedUntil = world.wheel.now() + world.interval(work.accelerate);
      if (work.queries.length > 0) this.#run(work);
    }
    const written = this.results.size === 0 || (await this.#write(WRITE_ATTEMPTS));
    if (!read.ok)
      this.logger.status(1, "distributed.cpp", `Could not read queries: ${read.reason}`, machine.agentVersion);
    return read.ok && written;
  }

  #run(work: ReturnType<typeof readWork>): void {
    if (work.queries.some(([, sql]) => SOFTWARE.test(sql)) && this.#reports++ > 0) {
      // In one of ten reports some software was installed, removed or updated.
      if (this.machine.random(1000 + this.#reports).chance(0.1)) this.#changes++;
    }
    const view = this.#view();
    const answer = (sql: string) => this.carver.answer(sql, this.#flags) ?? answerSql(sql, view);
    const discovery = (sql: string) => discoveryAnswer(sql, this.machine, answer);
    const queries = discover(work, this.machine.agentVersion, discovery);
    for (const [, sql] of queries) this.seenQueries?.add(sql);
    this.results.run(queries, (sql) => this.#prepared.get(sql) ?? answer(sql), this.machine.old);
    this.#prepared = new Map();
  }

  async #write(attempts: number): Promise<boolean> {
    const { results, machine } = this;
    const sent = results.size;
    const outcome = await this.#caller.call("distributed_write", this.#channels.distributed, attempts, (key) =>
      results.body(key, machine.agentVersion, machine.old),
    );
    if (!outcome.ok) return false;
    results.accepted();
    this.accepted++;
    this.#world.stats.deliveredResults += sent;
    return true;
  }

  async #configTick(): Promise<void> {
    const fetched = await this.#guarded(() => this.#fetchConfig());
    this.#rearm(this.#configTimer, this.#seconds(fetched ? "config_refresh" : "config_accelerated_refresh"));
  }

  async #distributedTick(): Promise<void> {
    await this.#guarded(() => this.pollOnce());
    const accelerated = this.#acceleratedUntil > this.#world.wheel.now();
    this.#rearm(this.#distributedTimer, accelerated ? ACCELERATED_S : this.#seconds("distributed_interval"));
  }

  async #logTick(): Promise<void> {
    await this.#guarded(async () => {
      this.logger.generate(this.#startedAt);
      await this.logger.send(this.#caller, this.#channels.log, this.#flags);
      return true;
    });
    this.#rearm(this.#logTimer, this.#seconds("logger_tls_period"));
  }

  #scheduleTick(): void {
    const { machine } = this;
    const world = this.#world;
    if (world.stopping) return;
    const view = this.#view();
    const forms = {
      eventType: this.#flags.logger_event_type !== "false",
      snapshotEventType: this.#flags.logger_snapshot_event_type === "true",
      epoch: Number(this.#flags.schedule_epoch ?? 0),
      old: machine.old,
    };
    const common = { hostIdentifier: this.identifier, unixTime: world.unixTime() };
    const toMs = (seconds: number) => world.interval(seconds);
    if (!world.paused) {
      const lines = this.#schedule.run(world.wheel.now(), common, forms, toMs, (sql) => answerSql(sql, view));
      if (lines.length > 0) this.logger.results(lines, (sql) => answerSql(sql, view));
    }
    this.#armSchedule();
  }

  async #fetchConfig(): Promise<boolean> {
    const currentText = this.#config?.text;
    const outcome = await this.#caller.call("config", this.#channels.config, CONFIG_ATTEMPTS, nodeKeyBody, currentText);
    if (!outcome.ok) {
      this.logger.status(1, "config.cpp", `Error reading config: ${outcome.reason}`, this.machine.agentVersion);
      return false;
    }
    if (outcome.text === currentText) return true;
    const config = readConfig(outcome.text, outcome.json);
    if (config) this.#apply(config);
    return config !== null;
  }

  /** A new config replaces schedule and packs. A removed option keeps its last value until the agent restarts. */
  #apply(config: AgentConfig): void {
    const { machine } = this;
    const world = this.#world;
    this.#config = config;
    if (Object.keys(config.options).some((name) => this.#flags[name] !== config.options[name])) {
      this.#flags = sharedFlags({ ...this.#flags, ...config.options });
    }
    const host = {
      family: machine.platform.family,
      agentVersion: machine.agentVersion,
      identifier: this.identifier,
      delimiter: this.#flags.pack_delimiter ?? "_",
    };
    const view = this.#view();
    const answer = (sql: string) => answerSql(sql, view);
    const selected = selectQueries(config, host, (sql) => answer(sql).rows.length > 0);
    const splay = Number(this.#flags.schedule_splay_percent ?? 10);
    this.#schedule.replace(selected, world.wheel.now(), splay, (seconds) => world.interval(seconds));
    this.logger.decorate(config.decorators, answer);
    this.#armSchedule();
  }

  #armSchedule(): void {
    const { wheel } = this.#world;
    wheel.disarm(this.#scheduleTimer);
    if (this.#schedule.size > 0 && !this.#world.stopping && !this.#ended)
      wheel.arm(this.#scheduleTimer, Math.max(50, this.#schedule.nextDue() - wheel.now()));
  }

  #rearm(timer: Timer, seconds: number): void {
    if (!this.#world.stopping && !this.#ended) this.#world.wheel.arm(timer, this.#world.interval(seconds));
  }

  async #guarded(work: () => Promise<boolean>): Promise<boolean> {
    if (this.#world.paused || this.#world.stopping) return true;
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
    }
  }

  #seconds(flag: string): number {
    const value = Number(this.#flags[flag]);
    return value > 0 ? value : 60;
  }

  #view(): MachineView {
    const { scale } = this.#world.settings;
    return new MachineView(this.machine, {
      unixTime: this.#world.unixTime(),
      bootedAt: this.#bootedAt,
      agentStartedAt: this.#startedAt,
      changes: this.#changes,
      flags: scale > 1 ? stretchedFlags(this.#flags, scale) : this.#flags,
      schedule: () => this.#schedule.stats(),
    });
  }
}

const nodeKeyBody = (key: string) => `{"node_key":"${key}"}`;
