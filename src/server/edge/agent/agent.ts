import { isRecord } from "../../../text/record.ts";
import type { CarveIntake } from "../../checks/carves/intake.ts";
import { liveQueries } from "../../inventory/live-queries/hub.ts";
import { objectMembers, parseSpan } from "../../platform/agent-protocol/json-scan.ts";
import {
  type AgentReply,
  type AgentRequest,
  busy,
  type EndpointName,
  failure,
  malformed,
  OK,
} from "../../platform/agent-protocol/wire.ts";
import { assertTimely } from "../../platform/core/concurrency/age.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Caller } from "../../platform/core/http/proxies.ts";
import type { ConfigCache } from "./config/cache.ts";
import type { ConfigReplies } from "./config/replies.ts";
import type { Enrollment } from "./enroll/enroll.ts";
import type { SeenBuffer } from "./hosts/seen.ts";
import type { FirstBytes, HandledReply, Senders } from "./hosts/senders.ts";
import type { HostState } from "./hosts/state.ts";
import { errorReply } from "./http/error-reply.ts";
import type { Load } from "./http/load.ts";
import { nodeKey } from "./http/sender.ts";
import type { Ingest } from "./ingest/ingest.ts";
import { parseWrite } from "./ingest/parse-write.ts";
import type { Polls } from "./ingest/polls.ts";
import { isEmpty, readResults } from "./ingest/results.ts";
import type { DetailQueries } from "./inventory/detail-queries.ts";
import type { LogIntake, ResultListener } from "./logs/log.ts";

interface AgentDeps {
  readonly senders: Senders;
  readonly polls: Polls;
  readonly configs: ConfigCache;
  readonly configReplies: ConfigReplies;
  readonly details: DetailQueries;
  readonly ingest: Ingest;
  readonly intake: LogIntake;
  readonly enrollment: Enrollment;
  readonly carves: CarveIntake;
  readonly seen: SeenBuffer;
  readonly load: Load;
  /** What has to be stopped, in this order. */
  readonly stoppable: readonly { stop(): Promise<void> | void }[];
}

/** Replies to the requests of all agents, one handler for every endpoint. Independent of HTTP. */
export class Agent {
  /** Load figures. */
  readonly load: Load;
  readonly #services: Services;
  readonly #deps: AgentDeps;
  readonly #live;

  constructor(services: Services, deps: AgentDeps) {
    this.load = deps.load;
    this.#services = services;
    this.#deps = deps;
    this.#live = services.running.of(liveQueries);
  }

  /** Replies synchronously if everything needed is cached. Never throws. */
  replyTo(endpoint: EndpointName, request: AgentRequest): HandledReply {
    if (this.load.isOver(endpoint)) return busy;
    try {
      const reply = this.#dispatch(endpoint, request);
      return reply instanceof Promise ? this.#countWork(endpoint, reply) : reply;
    } catch (error) {
      return errorReply(this.#services, endpoint, error);
    }
  }

  /** The budget to charge a body to, from its first bytes. `proved` resolves once its key has been looked up. */
  senderOf(request: FirstBytes): ReturnType<Senders["senderOf"]> {
    return this.#deps.senders.senderOf(request);
  }

  /** Registers a listener for accepted result lines; returns a function that removes it. */
  onResults(listener: ResultListener): () => void {
    return this.#deps.intake.onResults(listener);
  }

  /** Writes last-seen times immediately. */
  flush(): Promise<void> {
    return this.#deps.seen.flush();
  }

  async stop(): Promise<void> {
    for (const part of this.#deps.stoppable) await part.stop();
  }

  #dispatch(endpoint: EndpointName, request: AgentRequest): HandledReply {
    // Polls and configurations are answered from memory, as cheaply as refusing them.
    const since = endpoint === "distributed/read" || endpoint === "config" ? 0 : (request.since ?? this.load.arrival());
    if (since > 0) assertTimely(since);
    if (endpoint === "carve/block")
      return this.load.isFull() ? busy : this.#deps.carves.block(request.body, request.authorization);
    const body = request.body.toString("utf8");
    switch (endpoint) {
      case "distributed/read":
        return this.#replyToKey(body, request, (state) => this.#deps.polls.replyTo(state, request));
      case "config":
        return this.#replyToKey(body, request, this.#config);
      case "log":
        return this.#acceptLogs(body, request);
      case "distributed/write":
        return this.#storeResults(body, request, since);
      case "enroll":
        return this.#enroll(body, request, since);
      case "carve/begin":
        return this.#replyToKey(body, request, ({ id }, value) => this.#deps.carves.begin(id, value));
      case "yara":
        return this.#replyToKey(body, request, () => this.#yaraRule(request.name ?? ""));
    }
  }

  /** Counts the work towards the load; never rejects. */
  async #countWork(endpoint: EndpointName, reply: Promise<AgentReply>): Promise<AgentReply> {
    this.load.begin();
    try {
      return await reply;
    } catch (error) {
      return errorReply(this.#services, endpoint, error);
    } finally {
      this.load.end();
    }
  }

  /** The reply of `replyTo` for the host whose key is in the body, which is a JSON object. */
  #replyToKey(
    body: string,
    request: AgentRequest,
    replyTo: (state: HostState, value: Record<string, unknown>) => HandledReply,
  ): HandledReply {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (!isRecord(value)) return malformed;
    const key = nodeKey(value.node_key, request.authorization);
    if (typeof key !== "string") return key;
    return this.#deps.senders.replyToHost(key, request, (state) => replyTo(state, value));
  }

  readonly #config = (state: HostState): HandledReply => {
    const { configs, configReplies } = this.#deps;
    const cached = configs.nowFor(state);
    if (cached !== undefined) return configReplies.replyWith(cached, state);
    if (this.load.isFull()) return busy;
    return configs.getFor(state).then((config) => configReplies.replyWith(config, state));
  };

  async #storeResults(body: string, request: AgentRequest, since: number): Promise<AgentReply> {
    const { details, ingest, senders } = this.#deps;
    const parts = await parseWrite(body, details);
    const key = nodeKey(parts.node_key, request.authorization);
    if (typeof key !== "string") return key;
    return senders.replyToHost(key, request, async (state) => {
      assertTimely(since);
      const results = readResults(parts, details);
      if (results.live.size > 0) await this.#live.storeAnswers(state.id, results.live);
      const rest = results.live.size > 0 ? { ...results, live: new Map() } : results;
      if (!isEmpty(rest))
        await ingest.add({ state, address: request.address, results: rest, length: body.length }, since);
      return OK;
    });
  }

  #acceptLogs(body: string, request: AgentRequest): HandledReply {
    const members = objectMembers(body);
    const at = members.get("node_key");
    const key = nodeKey(at && parseSpan(body, at), request.authorization);
    if (typeof key !== "string") return key;
    const { intake, senders } = this.#deps;
    return senders.replyToHost(key, request, (state) => intake.accept(state, body, members));
  }

  async #yaraRule(name: string): Promise<AgentReply> {
    const { yara_rules } = await this.#services.config.current();
    const rule = yara_rules.find((candidate) => candidate.name === name);
    return rule ? { status: 200, body: rule.contents, plain: true } : failure(404, "there is no such YARA rule");
  }

  #enroll(body: string, caller: Caller, since: number): HandledReply {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (!isRecord(value)) return malformed;
    return this.#deps.enrollment.enroll(value, caller, since);
  }
}
