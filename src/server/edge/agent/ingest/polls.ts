// Replies to polls (docs/protocols/agent.md, Distributed queries). Most are of idle hosts, and answered from memory.

import { liveQueries } from "../../../inventory/live-queries/hub.ts";
import { type AgentReply, busy, failure } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { Caller } from "../../../platform/core/http/proxies.ts";
import type { HostCache } from "../hosts/cache.ts";
import type { HandledReply, Senders } from "../hosts/senders.ts";
import type { HostState } from "../hosts/state.ts";
import type { Load } from "../http/load.ts";
import { dueQueries } from "./distributed-read.ts";
import type { QueryCaches } from "./planned-write.ts";

interface Deps {
  readonly cache: HostCache;
  readonly senders: Senders;
  readonly load: Load;
  readonly caches: QueryCaches;
}

export class Polls {
  readonly #services: Services;
  readonly #deps: Deps;
  readonly #live;

  constructor(services: Services, deps: Deps) {
    this.#services = services;
    this.#deps = deps;
    this.#live = services.running.of(liveQueries);
  }

  replyTo(state: HostState, caller: Caller): HandledReply {
    const idle = state.isIdle(this.#services.clock.now());
    if (this.#live.has(state.id)) {
      const liveQueries = this.#live.ask(state.id, state.teamId, idle);
      if (liveQueries !== null) return liveQueries;
    }
    if (idle) {
      const { policies } = this.#deps.caches;
      // With the store unavailable, assume no new policies; the next poll checks again.
      if (policies.now === undefined)
        return policies.get().then(
          (now) => (state.hasAnswered(now) ? state.idleReply : this.#queriesFor(state, caller)),
          () => state.idleReply,
        );
      if (state.hasAnswered(policies.now)) return state.idleReply;
    }
    return this.#queriesFor(state, caller);
  }

  #queriesFor(state: HostState, caller: Caller): HandledReply {
    const { cache, caches, load, senders } = this.#deps;
    if (load.isFull()) return busy;
    return cache.reload(state).then((row): HandledReply => {
      if (row !== null) return dueQueries(this.#services, caches, row, state);
      // The host enrolled again or was deleted: look its key up in the store.
      return senders.replyToHost(
        state.key,
        caller,
        (other): AgentReply =>
          other.isIdle(this.#services.clock.now()) ? other.idleReply : failure(503, "try again", 1),
      );
    });
  }
}
