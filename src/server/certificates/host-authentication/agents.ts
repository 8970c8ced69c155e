// Caches managed agents by key: 10,000 of them request their configuration every 30 s.

import type { AgentOptions } from "../../../api/settings/app-config.ts";
import { type HostChanges, watchHosts } from "../../hosts/hosts/changes.ts";
import { channels } from "../../platform/core/channels.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import { authenticationRequired, limitExceeded } from "../../platform/core/errors.ts";
import type { Caller } from "../../platform/core/http/proxies.ts";
import { limit } from "../../platform/core/limits.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { startedPart } from "../../platform/core/running.ts";
import { FailureLimit } from "../../platform/rate-limits/failures.ts";
import { type AgentHost, readAgentHosts } from "./agent-hosts.ts";
import { checkSigned, type SignedContext } from "./identity.ts";

interface CachedHost {
  readonly host: AgentHost;
  readonly key: string;
  /** False: has to be read again before the next use. */
  fresh: boolean;
}

const AGENTS_MAX = 200_000;
const UNKNOWN_KEYS_A_MINUTE = 1_000;
export const agentKey = limit({
  what: "key that a managed agent sends",
  max: 256,
  unit: "characters",
  beyond: "The request is refused with 401.",
});

class ManagedAgents {
  readonly #services: Services;
  readonly #byKey = new Map<string, CachedHost>();
  readonly #byHost = new Map<number, CachedHost>();
  readonly #teamOptions = new Map<number, CachedValue<AgentOptions>>();
  readonly #unknownKeys: FailureLimit;
  readonly #lookups: Batcher<string, AgentHost | null>;
  readonly #stops: (() => Promise<void>)[] = [];
  #changes: HostChanges | null = null;

  static async start(services: Services): Promise<ManagedAgents> {
    const agents = new ManagedAgents(services);
    await agents.#listen();
    return agents;
  }

  constructor(services: Services) {
    this.#services = services;
    this.#unknownKeys = new FailureLimit(services, { scope: "managed agents' keys", most: UNKNOWN_KEYS_A_MINUTE });
    this.#lookups = new Batcher((hashes) => readAgentHosts(services, hashes), { size: 200, parallel: 2 });
  }

  get size(): number {
    return this.#byKey.size;
  }

  /**
   * The host of a key. 401 if the key is unknown, or if the host signs its requests and has not signed this one. 429
   * after too many unknown keys from the address.
   */
  async find(key: string, ctx: Caller & SignedContext): Promise<AgentHost> {
    const host = await this.#hostOf(key, ctx);
    if (host.hasIdentity) await checkSigned(ctx, host.hostId);
    return host;
  }

  /** The agent options of the team, or else the global ones. */
  async optionsOf(teamId: number | null): Promise<AgentOptions> {
    const cached = this.#teamOptions.get(teamId ?? 0);
    if (cached) return cached.get();
    const { config, store } = this.#services;
    const options = new CachedValue(async () => {
      const global = await config.current();
      const team = teamId === null ? null : await store.teams.get(teamId);
      return team?.agent_options ?? global.agent_options;
    });
    this.#teamOptions.set(teamId ?? 0, options);
    return options.get();
  }

  async stop(): Promise<void> {
    await this.#lookups.idle();
    await this.#changes?.stop();
    for (const stop of this.#stops) await stop();
    this.#unknownKeys.stop();
  }

  /** Follows the changes of other servers. */
  async #listen(): Promise<void> {
    const { store } = this.#services;
    this.#changes = await watchHosts(store, {
      host: (id) => doubt(this.#byHost.get(id)),
      all: () => {
        for (const cached of this.#byKey.values()) doubt(cached);
      },
    });
    const forget = () => this.#forgetOptions();
    for (const channel of [channels.teams, channels.config])
      this.#stops.push(await store.listen(channel, forget, forget));
  }

  async #hostOf(key: string, caller: Caller): Promise<AgentHost> {
    const cached = this.#byKey.get(key);
    if (cached?.fresh) return cached.host;
    if (key === "" || key.length > agentKey.max) throw authenticationRequired();
    const before = this.#changes?.notifications;
    const host = await this.#lookups.add(tokenHash(key));
    if (host === null) {
      if (cached) this.#drop(cached);
      const wait = this.#unknownKeys.fail(caller);
      throw wait > 0 ? limitExceeded(wait) : authenticationRequired();
    }
    this.#cache(key, host, this.#changes?.notifications === before);
    return host;
  }

  #cache(key: string, host: AgentHost, fresh: boolean): void {
    for (const old of [this.#byKey.get(key), this.#byHost.get(host.hostId)]) if (old) this.#drop(old);
    const cached = { host, key, fresh };
    this.#byKey.set(key, cached);
    this.#byHost.set(host.hostId, cached);
    const oldest = this.#byKey.size > AGENTS_MAX ? this.#byKey.values().next().value : undefined;
    if (oldest) this.#drop(oldest);
  }

  #drop(cached: CachedHost): void {
    if (this.#byKey.get(cached.key) === cached) this.#byKey.delete(cached.key);
    if (this.#byHost.get(cached.host.hostId) === cached) this.#byHost.delete(cached.host.hostId);
  }

  #forgetOptions(): void {
    for (const cached of this.#teamOptions.values()) cached.forget();
    this.#teamOptions.clear();
  }
}

function doubt(cached: CachedHost | undefined): void {
  if (cached) cached.fresh = false;
}

export const managedAgents = startedPart("managed agents", ManagedAgents.start);
