// The agents' side of the server: what it holds in memory, and one way in for every endpoint. No HTTP here.
import { createCarveIntake } from "../carves/intake.ts";
import type { Services } from "../core/context.ts";
import { createLabelCache } from "../labels/dynamic.ts";
import { startLive } from "../live-queries/hub.ts";
import { createPolicyCache } from "../policies/cache.ts";
import { createForwarding } from "../queries/forwarding.ts";
import { createPlanCache } from "../queries/plan.ts";
import { createReportIntake } from "../queries/reports.ts";
import { BadRow } from "../store/rows.ts";
import { StoreUnavailable } from "../store/store.ts";
import { type AgentConfig, createConfigCache, type Intervals } from "./config.ts";
import { dueQueries } from "./distributed-read.ts";
import { createEnrollment } from "./enroll.ts";
import { createFailureLimit } from "./failure-limit.ts";
import { createHostCache } from "./host-cache.ts";
import type { HostState } from "./host-state.ts";
import { createIngest } from "./ingest.ts";
import { seenRow } from "./ingest-write.ts";
import { BadJson, objectMembers, parseSpan } from "./json-scan.ts";
import { createLoad, type Load } from "./load.ts";
import { createLogIntake, type LogIntake } from "./log.ts";
import { isEmpty, parseWrite, readResults } from "./results.ts";
import { createSeenBuffer } from "./seen.ts";
import {
  type AgentReply,
  type AgentRequest,
  busy,
  type EndpointName,
  failure,
  internal,
  malformed,
  nodeInvalid,
  OK,
  storeAway,
} from "./wire.ts";

export type { ResultLine, ResultListener } from "./log.ts";
export type { AgentReply, AgentRequest, EndpointName } from "./wire.ts";

export interface Agent {
  /** Answers at once where memory has all that it takes. Never throws. */
  handle(endpoint: EndpointName, request: AgentRequest): AgentReply | Promise<AgentReply>;
  /** Called with the result lines of hosts, after they were accepted. Gives what ends it. */
  onResults: LogIntake["onResults"];
  /** How much is being worked on. */
  readonly load: Load;
  /** Writes last-seen times now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Lookups of keys that no host has, by address and minute. A restart makes none: its hosts' keys are known to the store. */
const UNKNOWN_KEYS_A_MINUTE = 1_000;
const KEY_MAX = 256;

type Handled = AgentReply | Promise<AgentReply>;

export async function startAgent(services: Services): Promise<Agent> {
  const { store, settings, clock, log } = services;
  const labels = await createLabelCache(services);
  const policies = await createPolicyCache(services);
  const plans = await createPlanCache(services);
  const configs = await createConfigCache(services, plans);
  const cache = await createHostCache(services);
  const enrollment = createEnrollment(services, { hosts: cache, labels, configs });
  const live = await startLive(services);
  const ingest = await createIngest(services, { configs, labels, policies });
  const intake = createLogIntake(services, createForwarding(plans));
  const reports = await createReportIntake(services, plans);
  intake.onResults((host, lines) => reports.take(host, lines));
  const carves = createCarveIntake(services, async (key) =>
    key.length > KEY_MAX ? null : ((cache.known(key) ?? (await cache.find(key)))?.id ?? null),
  );
  const seen = createSeenBuffer(services);
  const load = createLoad(settings.max_agent_requests);
  const unknownKeys = createFailureLimit(clock, UNKNOWN_KEYS_A_MINUTE);

  /** What a throw means to the agent. An unknown cause never costs it its key. */
  function refuse(endpoint: EndpointName, error: unknown): AgentReply {
    if (error instanceof BadJson) return malformed;
    if (error instanceof StoreUnavailable) {
      log.warn({ err: error, endpoint }, "an agent request failed for want of the store");
      return storeAway;
    }
    log.error({ err: error, endpoint }, "an agent request failed");
    return error instanceof BadRow ? failure(400, "the request holds what cannot be kept") : internal;
  }

  /** The work is counted, and cannot throw. */
  async function working(endpoint: EndpointName, work: () => Handled): Promise<AgentReply> {
    load.begin();
    try {
      return await work();
    } catch (error) {
      return refuse(endpoint, error);
    } finally {
      load.end();
    }
  }

  function forHost(key: string, address: string, then: (state: HostState) => Handled): Handled {
    const state = cache.known(key);
    if (state !== undefined) {
      seen.mark(state, clock.now());
      return then(state);
    }
    if (load.isFull()) return busy;
    return cache.find(key).then((found) => {
      if (found === null) {
        const wait = unknownKeys.fail(address);
        return wait > 0 ? failure(429, `too many unknown node keys, retry after: ${wait}s`, wait) : nodeInvalid();
      }
      seen.mark(found, clock.now());
      return then(found);
    });
  }

  function read(state: HostState, address: string): Handled {
    const idle = state.isIdle(clock.now());
    if (live.has(state.id)) {
      const asked = live.ask(state.id, state.teamId, idle);
      if (asked !== null) return asked;
    }
    if (idle) return state.idleReply;
    if (load.isFull()) return busy;
    return cache.reload(state).then((row) => {
      // Enrolled again or gone since: what the key is worth now, the store knows.
      if (row === null)
        return forHost(state.key, address, (other) =>
          other.isIdle(clock.now()) ? other.idleReply : failure(503, "try again", 1),
        );
      return dueQueries(services, { configs, labels, policies }, row, state);
    });
  }

  function config(state: HostState): Handled {
    const held = configs.nowFor(state);
    if (held !== undefined) return send(state, held);
    if (load.isFull()) return busy;
    return configs.getFor(state).then((got) => send(state, got));
  }

  function send(state: HostState, sent: AgentConfig): Handled {
    if (state.config === sent) return sent.reply;
    const { distributed_interval, config_tls_refresh, logger_tls_period } = sent.intervals;
    const isKnown =
      (distributed_interval ?? state.distributedInterval) === state.distributedInterval &&
      (config_tls_refresh ?? state.configTlsRefresh) === state.configTlsRefresh &&
      (logger_tls_period ?? state.loggerTlsPeriod) === state.loggerTlsPeriod;
    state.config = sent;
    return isKnown ? sent.reply : keepIntervals(state, sent.intervals).then(() => sent.reply);
  }

  /** The intervals decide until when the host counts as online: at once, not from its next flush on. */
  async function keepIntervals(state: HostState, intervals: Intervals): Promise<void> {
    state.distributedInterval = intervals.distributed_interval ?? state.distributedInterval;
    state.configTlsRefresh = intervals.config_tls_refresh ?? state.configTlsRefresh;
    state.loggerTlsPeriod = intervals.logger_tls_period ?? state.loggerTlsPeriod;
    const seen = seenRow(
      { id: state.id, distributed_interval: state.distributedInterval, config_tls_refresh: state.configTlsRefresh },
      clock.now(),
    );
    try {
      await store.tx(async (tx) => {
        await tx.hosts.updateEach([{ id: state.id, ...intervals, updated_at: clock.iso() }]);
        await tx.hostSeen.updateEach([seen]);
      });
    } catch (error) {
      // The configuration itself is good: the next request tries again.
      state.config = null;
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  async function write(body: string, authorization: string | undefined, address: string): Promise<AgentReply> {
    const parts = await parseWrite(body);
    const key = nodeKey(parts.node_key, authorization);
    if (typeof key !== "string") return key;
    return forHost(key, address, async (state) => {
      const results = readResults(parts);
      if (results.live.size > 0) await live.take(state.id, results.live);
      const rest = results.live.size > 0 ? { ...results, live: new Map() } : results;
      if (!isEmpty(rest)) await ingest.add({ state, address, results: rest });
      return OK;
    });
  }

  function logs(body: string, authorization: string | undefined, address: string): Handled {
    const members = objectMembers(body);
    const at = members.get("node_key");
    const key = nodeKey(at && parseSpan(body, at), authorization);
    if (typeof key !== "string") return key;
    return forHost(key, address, (state) => intake.accept(state, body, members));
  }

  function keyed(body: string, { authorization, address }: AgentRequest, then: (state: HostState) => Handled): Handled {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (typeof value !== "object" || value === null || Array.isArray(value)) return malformed;
    const key = nodeKey((value as { node_key?: unknown }).node_key, authorization);
    return typeof key === "string" ? forHost(key, address, then) : key;
  }

  function beginCarve(body: string, { authorization, address }: AgentRequest): Handled {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (typeof value !== "object" || value === null || Array.isArray(value)) return malformed;
    const asked = value as Record<string, unknown>;
    const key = nodeKey(asked.node_key, authorization);
    return typeof key === "string" ? forHost(key, address, ({ id }) => carves.begin(id, asked)) : key;
  }

  function enroll(body: string, address: string): Handled {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (typeof value !== "object" || value === null || Array.isArray(value)) return malformed;
    return enrollment.enroll(value as Record<string, unknown>, address);
  }

  function dispatch(endpoint: EndpointName, request: AgentRequest): Handled {
    if (endpoint === "carve/block") return load.isFull() ? busy : carves.block(request.body, request.authorization);
    const body = request.body.toString("utf8");
    switch (endpoint) {
      case "distributed/read":
        return keyed(body, request, (state) => read(state, request.address));
      case "config":
        return keyed(body, request, config);
      case "log":
        return logs(body, request.authorization, request.address);
      case "distributed/write":
        return write(body, request.authorization, request.address);
      case "enroll":
        return enroll(body, request.address);
      case "carve/begin":
        return beginCarve(body, request);
    }
  }

  return {
    load,
    handle(endpoint, request) {
      if (load.isOver(endpoint)) return busy;
      try {
        const handled = dispatch(endpoint, request);
        return handled instanceof Promise ? working(endpoint, () => handled) : handled;
      } catch (error) {
        return refuse(endpoint, error);
      }
    },
    onResults: intake.onResults,
    flush: () => seen.flush(),
    async stop() {
      await enrollment.stop();
      await ingest.stop();
      await live.stop();
      await seen.stop();
      await intake.stop();
      await cache.stop();
      await reports.stop();
      await configs.stop();
      await plans.stop();
      await labels.stop();
      await policies.stop();
      load.stop();
    },
  };
}

/** The key of a request, or why there is none. It stands in the body, and from agent 5.23 in the header too. */
function nodeKey(inBody: unknown, authorization: string | undefined): string | AgentReply {
  const given = typeof inBody === "string" ? inBody : "";
  const inHeader = authorization?.startsWith("NodeKey ") ? authorization.slice(8).trim() : "";
  if (given !== "" && inHeader !== "" && given !== inHeader)
    return failure(400, "the node keys of body and Authorization header differ");
  const key = given || inHeader;
  if (key === "" || key.length > KEY_MAX) return nodeInvalid();
  return key;
}
