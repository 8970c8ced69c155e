import { type Channels, SimulatedAgent } from "./agent/agent.ts";
import { ManagedAgent } from "./agent/managed.ts";
import { World } from "./agent/world.ts";
import { Identities } from "./identities.ts";
import { Machine, type MachineSettings } from "./inventory/machine.ts";
import { platformMix } from "./inventory/platforms.ts";
import { Ledger } from "./ledger.ts";
import { type CompleteOptions, completeOptions, type SimulationOptions } from "./options.ts";
import { mix } from "./random.ts";
import { reportOf, type SimulationReport } from "./report.ts";
import { Stats } from "./stats.ts";
import { Wheel } from "./wheel.ts";
import { Transport } from "./wire/transport.ts";

const MAX_CONCURRENT_FLUSHES = 256;
const FLUSH_LIMIT_MS = 20_000;
const INVENTORY_ROUNDS = 3;

type ReconnectResult = { hosts: number; answered: number; ms: number };

/** A fleet of simulated agents for one server. */
export class Simulation {
  readonly stats = new Stats();
  readonly agents: SimulatedAgent[] = [];
  /** The managed agents, on hosts that have one. */
  readonly managed: ManagedAgent[] = [];
  readonly #options: CompleteOptions;
  readonly #wheel: Wheel;
  readonly #transport: Transport;
  readonly #world: World;
  readonly #ledger: Ledger | null;
  readonly #identities: Identities | null;
  readonly #machines: MachineSettings;
  readonly #startedAt: number;
  #enrollment: SimulationReport["enrollment"] = null;
  #stopped: Promise<SimulationReport> | null = null;
  #progress: NodeJS.Timeout | null = null;
  #seconds = 0;

  /** `wheel` and `wallClock` are for tests that control time. */
  constructor(options: SimulationOptions, clock: { wheel?: Wheel; wallClock?: () => number } = {}) {
    this.#options = completeOptions(options);
    const { seed, platforms, softwarePerHost, quirks, managed } = this.#options;
    this.#machines = { seed, platforms: platformMix(platforms), softwarePerHost, quirks, managed };
    this.#wheel = clock.wheel ?? new Wheel();
    this.#transport = new Transport(this.#options, this.#wheel);
    this.#ledger = this.#options.ledgerFile ? new Ledger(this.#options.ledgerFile) : null;
    this.#identities = this.#options.identityFile
      ? new Identities(this.#options.identityFile, this.#options.serverUrl)
      : null;
    const wallClock = clock.wallClock ?? Date.now;
    this.#world = new World({
      wheel: this.#wheel,
      transport: this.#transport,
      stats: this.stats,
      settings: this.#options,
      ledger: this.#ledger,
      runId: `${seed.toString(36)}.${wallClock().toString(36)}`,
      wallClock,
    });
    this.#world.rateFactor = this.#options.rateFactor;
    this.#startedAt = this.#wheel.now();
  }

  get connections(): number {
    return this.#transport.connections;
  }

  /** Starts every agent at its own time within the spread. Returns immediately. */
  start(): void {
    this.#drive();
    const { hosts, spread, seed } = this.#options;
    for (let index = 0; index < hosts; index++) {
      const delay = (mix(seed, index, 3) / 2 ** 32) * spread * 1000;
      this.#wheel.after(delay, () => {
        if (this.#world.stopping) return;
        const agent = this.#newAgent(index);
        void agent.start();
        if (agent.machine.managed) void this.#newManaged(agent).start();
      });
    }
  }

  /** Enrolls every host once with its complete first inventory, `concurrency` hosts at a time, and measures it. */
  async enrollAll(signal?: AbortSignal): Promise<void> {
    this.#drive();
    const { hosts, concurrency } = this.#options;
    const agents = this.#options.prepared ? await this.#preparedAgents() : null;
    this.#options.onEnrollment?.();
    const from = this.#wheel.now();
    let next = 0;
    let done = 0;
    const worker = async () => {
      while (next < hosts && !signal?.aborted && !this.#world.stopping) {
        const index = next++;
        if (await this.#enrollOne(agents?.[index] ?? this.#newAgent(index))) done++;
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, hosts) }, worker));
    const seconds = (this.#wheel.now() - from) / 1000;
    this.#enrollment = { hosts: done, seconds, perSecond: Math.round((done / Math.max(seconds, 0.001)) * 10) / 10 };
  }

  /** Pauses polling. Timers that become due wait too. */
  pause(): void {
    this.#world.paused = true;
  }

  resume(): void {
    this.#world.paused = false;
  }

  /** Takes effect in each loop from its next round on. */
  setRateFactor(factor: number): void {
    if (!(factor > 0)) throw new Error("rateFactor must be above 0");
    this.#world.rateFactor = factor;
  }

  /** Closes every connection and makes all agents check in immediately, as after a restart of the server. */
  async reconnectAll(): Promise<ReconnectResult> {
    this.#transport.reset();
    const from = this.#wheel.now();
    const answers = await Promise.all(this.agents.map((agent) => agent.checkIn()));
    return { hosts: answers.length, answered: answers.filter(Boolean).length, ms: this.#wheel.now() - from };
  }

  report(): SimulationReport {
    let pendingLines = 0;
    let lostResults = 0;
    for (const agent of this.agents) {
      pendingLines += agent.logger.buffer.size;
      lostResults += agent.results.size;
    }
    for (const agent of this.managed) lostResults += agent.undelivered;
    const seconds = this.#seconds || (this.#wheel.now() - this.#startedAt) / 1000;
    return reportOf(this.stats, {
      hosts: this.#options.hosts,
      seconds,
      pendingLines,
      lostResults,
      enrollment: this.#enrollment,
    });
  }

  /** Ends the loops, delivers buffered data and closes the connections. May be called twice. */
  stop(): Promise<SimulationReport> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end(): Promise<SimulationReport> {
    this.#seconds = (this.#wheel.now() - this.#startedAt) / 1000;
    this.#world.stop();
    for (const agent of [...this.agents, ...this.managed]) agent.stop();
    const limit = this.#wheel.after(FLUSH_LIMIT_MS, () => this.#transport.close());
    await this.#flush();
    this.#wheel.disarm(limit);
    this.#transport.close();
    if (this.#progress) clearInterval(this.#progress);
    this.#wheel.stop();
    for (const agent of this.agents) agent.logger.close();
    this.#ledger?.close();
    this.#identities?.save(this.agents);
    return this.report();
  }

  async #flush(): Promise<void> {
    const agents = [...this.agents, ...this.managed].values();
    const worker = async () => {
      for (const agent of agents) {
        await agent.idle();
        await agent.flush();
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_FLUSHES }, worker));
  }

  /** All agents, with answers to the queries that a host of the same platform got. */
  async #preparedAgents(): Promise<SimulatedAgent[]> {
    const { hosts } = this.#options;
    const queriesByKey = new Map<string, ReadonlySet<string>>();
    const agents: SimulatedAgent[] = [];
    for (let index = 0; index < hosts; index++) {
      const agent = this.#newAgent(index);
      const { key } = agent.machine.platform;
      if (!queriesByKey.has(key)) queriesByKey.set(key, await this.#queriesFor(key));
      agent.prepare(queriesByKey.get(key)!);
      agents.push(agent);
    }
    return agents;
  }

  /** The queries that the first host of the platform gets which is not one of the others. */
  async #queriesFor(platform: string): Promise<ReadonlySet<string>> {
    for (let index = this.#options.hosts; ; index++) {
      if (new Machine(this.#machines, index).platform.key !== platform) continue;
      const agent = this.#newAgent(index);
      const queries = new Set<string>();
      agent.seenQueries = queries;
      await this.#enrollOne(agent);
      return queries;
    }
  }

  async #enrollOne(agent: SimulatedAgent): Promise<boolean> {
    for (let round = 0; round < INVENTORY_ROUNDS; round++) {
      const before = agent.accepted;
      if (!(await agent.pollOnce())) return false;
      // The read contained no more queries: the server has everything that it needs.
      if (agent.accepted === before) break;
    }
    return agent.accepted > 0;
  }

  #newAgent(index: number): SimulatedAgent {
    const machine = new Machine(this.#machines, index);
    const channels = this.#channels();
    const agent = new SimulatedAgent(this.#world, machine, channels);
    const key = this.#identities?.keyOf(agent.identifier);
    if (key) agent.resume(key);
    this.agents.push(agent);
    return agent;
  }

  #newManaged(beside: SimulatedAgent): ManagedAgent {
    const transport = this.#transport;
    const channel = this.#options.connections === "shared" ? transport.sharedChannel() : transport.ownChannel();
    const agent = new ManagedAgent(this.#world, beside.machine, channel, beside.identifier);
    agent.onWiped = () => beside.stop();
    this.managed.push(agent);
    return agent;
  }

  #channels(): Channels {
    const transport = this.#transport;
    const { connections } = this.#options;
    if (connections !== "own") {
      const channel = connections === "shared" ? transport.sharedChannel() : transport.ownChannel();
      return { config: channel, distributed: channel, log: channel };
    }
    const ownChannel = () => transport.ownChannel();
    return { config: ownChannel(), distributed: ownChannel(), log: ownChannel(), carver: ownChannel() };
  }

  #drive(): void {
    this.#wheel.start();
    const { onProgress, progressSeconds, hosts } = this.#options;
    if (!onProgress || this.#progress) return;
    let last = { requests: 0, at: this.#wheel.now() };
    this.#progress = setInterval(() => {
      const now = this.#wheel.now();
      const { requests, errors, enrolled, acknowledgedLines } = this.stats;
      const requestsPerSecond = ((requests - last.requests) * 1000) / Math.max(1, now - last.at);
      last = { requests, at: now };
      const seconds = (now - this.#startedAt) / 1000;
      const { connections } = this;
      const started = this.agents.length;
      onProgress({
        seconds,
        started,
        hosts,
        requests,
        requestsPerSecond,
        errors,
        enrolled,
        connections,
        acknowledgedLines,
      });
    }, progressSeconds * 1000);
  }
}
