// The agent side of the server: caches, and one handler for every endpoint. Independent of HTTP.

import { isRecord } from "../../../text/record.ts";
import { compareDevices } from "../../automations/conditional-access/compliance/inventory.ts";
import { CarveIntake } from "../../checks/carves/intake.ts";
import { createPolicyCache } from "../../checks/policies/cache.ts";
import { createFailureIntake } from "../../checks/queries/failures.ts";
import { createForwarding } from "../../checks/queries/forwarding.ts";
import { createPlanCache } from "../../checks/queries/plan.ts";
import { createReportIntake } from "../../checks/queries/reports.ts";
import { writeIntervals } from "../../hosts/hosts/reported.ts";
import { seenRow } from "../../hosts/hosts/seen.ts";
import { createLabelCache } from "../../hosts/labels/dynamic.ts";
import { liveQueries } from "../../inventory/live-queries/hub.ts";
import { BadJson, objectMembers, parseSpan } from "../../platform/agent-protocol/json-scan.ts";
import {
  type AgentReply,
  type AgentRequest,
  busy,
  type EndpointName,
  failure,
  filesUnavailable,
  internal,
  malformed,
  nodeInvalid,
  OK,
  overdue,
  storeUnavailable,
} from "../../platform/agent-protocol/wire.ts";
import { assertTimely, Overdue } from "../../platform/core/concurrency/age.ts";
import type { Services } from "../../platform/core/context.ts";
import { bodyRoom, type Sender } from "../../platform/core/http/body-room.ts";
import type { Caller } from "../../platform/core/http/proxies.ts";
import { startedPart } from "../../platform/core/running.ts";
import { FailureLimit } from "../../platform/rate-limits/failures.ts";
import { BlobsUnavailable } from "../../platform/store/blobs/blobs.ts";
import { BadRow } from "../../platform/store/rows.ts";
import { StoreUnavailable } from "../../platform/store/store.ts";
import { type AgentConfig, createConfigCache, type Intervals } from "./config.ts";
import { createEnrollment } from "./enroll/enroll.ts";
import { createHostCache } from "./hosts/cache.ts";
import { createSeenBuffer } from "./hosts/seen.ts";
import type { HostState } from "./hosts/state.ts";
import { createLoad, type Load } from "./http/load.ts";
import { keyNamedBy } from "./http/sender.ts";
import { dueQueries } from "./ingest/distributed-read.ts";
import { createIngest } from "./ingest/ingest.ts";
import { isEmpty, parseWrite, readResults } from "./ingest/results.ts";
import { inventorySources } from "./ingest/sources.ts";
import { createDetailQueries } from "./inventory/detail-queries.ts";
import { createLogIntake, type LogIntake } from "./logs/log.ts";

export interface Agent {
  /** Replies synchronously if everything needed is cached. Never throws. */
  handle(endpoint: EndpointName, request: AgentRequest): AgentReply | Promise<AgentReply>;
  /** Registers a listener for accepted result lines; returns a function that removes it. */
  onResults: LogIntake["onResults"];
  /** The budget to charge a body to, from its first bytes. `proved` resolves once its key has been looked up. */
  senderOf(request: FirstBytes): { readonly sender: Sender; readonly proved?: Promise<Sender | null> };
  /** Load figures. */
  readonly load: Load;
  /** Writes last-seen times immediately. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Lookups of unknown node keys per address and minute. Restarts cause none, since the store knows the hosts' keys. */
const UNKNOWN_KEYS_A_MINUTE = 1_000;
const KEY_MAX = 256;

export interface FirstBytes extends Caller {
  readonly first: Buffer;
  readonly encoding: string | undefined;
  readonly authorization: string | undefined;
}

type HandledReply = AgentReply | Promise<AgentReply>;

export const agents = startedPart("query agents", startAgent);

async function startAgent(services: Services): Promise<Agent> {
  const { store, settings, clock, log } = services;
  const labels = await createLabelCache(services);
  const policies = await createPolicyCache(services, compareDevices);
  const plans = await createPlanCache(services);
  const configs = await createConfigCache(services, plans);
  const cache = await createHostCache(services);
  const enrollment = createEnrollment(services, { hosts: cache, configs });
  const live = services.running.of(liveQueries);
  const details = createDetailQueries(services.extensions.of(inventorySources));
  const ingest = await createIngest(services, { configs, labels, policies, details });
  const reports = await createReportIntake(services, plans);
  const failures = createFailureIntake(services, plans);
  const intake = createLogIntake(services, {
    forwarded: createForwarding(plans),
    report: (host, lines) => reports.storeReports(host, lines),
    failures: failures.take,
  });
  const carves = new CarveIntake(services, async (key) =>
    key.length > KEY_MAX ? null : ((cache.cached(key) ?? (await cache.find(key)))?.id ?? null),
  );
  const seen = createSeenBuffer(services);
  const room = services.running.of(bodyRoom);
  const load = createLoad(settings.max_agent_requests);
  const unknownKeys = new FailureLimit(services, { scope: "node keys", most: UNKNOWN_KEYS_A_MINUTE });

  /** Maps an error to a reply. An unexpected error must never invalidate the agent's node key. */
  function refuse(endpoint: EndpointName, error: unknown): AgentReply {
    if (error instanceof BadJson) return malformed;
    if (error instanceof Overdue) {
      services.metrics.agentOverdue.inc({ endpoint });
      return overdue;
    }
    if (error instanceof StoreUnavailable) {
      const ofFiles = error instanceof BlobsUnavailable;
      const what = ofFiles ? "files cannot be stored" : "the store is unavailable";
      log.warn({ err: error, endpoint }, `an agent request failed because ${what}`);
      return ofFiles ? filesUnavailable : storeUnavailable;
    }
    log.error({ err: error, endpoint }, "an agent request failed");
    return error instanceof BadRow ? failure(400, "the request contains values that cannot be stored") : internal;
  }

  /** Counts the work towards the load; never rejects. */
  async function working(endpoint: EndpointName, work: () => HandledReply): Promise<AgentReply> {
    load.begin();
    try {
      return await work();
    } catch (error) {
      return refuse(endpoint, error);
    } finally {
      load.end();
    }
  }

  const proven = ({ id }: HostState): Sender => ({ trust: "proved", name: `host ${id}` });

  function senderOf({ first, encoding, authorization, ...caller }: FirstBytes) {
    const key = keyInHeader(authorization) || (keyNamedBy(first, encoding) ?? "");
    const state = key === "" ? undefined : cache.cached(key);
    if (state !== undefined) return { sender: proven(state) };
    const sender = room.byAddress(caller.address);
    if (key === "" || key.length > KEY_MAX || load.isFull()) return { sender };
    const proved = cache.find(key).then(
      (host) => {
        if (host !== null) return proven(host);
        unknownKeys.fail(caller);
        return null;
      },
      () => null,
    );
    return { sender, proved };
  }

  function forHost(key: string, caller: Caller, then: (state: HostState) => HandledReply): HandledReply {
    const state = cache.cached(key);
    if (state !== undefined) {
      if (state.address !== caller.address) {
        state.address = caller.address;
        room.meet(caller.address);
      }
      seen.mark(state, clock.now());
      return then(state);
    }
    if (load.isFull()) return busy;
    return cache.find(key).then((host) => {
      if (host === null) {
        const wait = unknownKeys.fail(caller);
        return wait > 0 ? failure(429, `too many unknown node keys, retry after: ${wait}s`, wait) : nodeInvalid();
      }
      seen.mark(host, clock.now());
      room.meet(caller.address);
      host.address = caller.address;
      return then(host);
    });
  }

  function read(state: HostState, caller: Caller): HandledReply {
    const idle = state.isIdle(clock.now());
    if (live.has(state.id)) {
      const liveQueries = live.ask(state.id, state.teamId, idle);
      if (liveQueries !== null) return liveQueries;
    }
    if (idle) {
      // With the store unavailable, assume no new policies; the next poll checks again.
      if (policies.now === undefined)
        return policies.get().then(
          (now) => (state.hasAnswered(now) ? state.idleReply : ask(state, caller)),
          () => state.idleReply,
        );
      if (state.hasAnswered(policies.now)) return state.idleReply;
    }
    return ask(state, caller);
  }

  function ask(state: HostState, caller: Caller): HandledReply {
    if (load.isFull()) return busy;
    return cache.reload(state).then((row) => {
      // The host enrolled again or was deleted: look its key up in the store.
      if (row === null)
        return forHost(state.key, caller, (other) =>
          other.isIdle(clock.now()) ? other.idleReply : failure(503, "try again", 1),
        );
      return dueQueries(services, { configs, labels, policies, details }, row, state);
    });
  }

  function config(state: HostState): HandledReply {
    const cached = configs.nowFor(state);
    if (cached !== undefined) return send(state, cached);
    if (load.isFull()) return busy;
    return configs.getFor(state).then((got) => send(state, got));
  }

  function send(state: HostState, sent: AgentConfig): HandledReply {
    if (state.config === sent) return sent.reply;
    const { distributed_interval, config_tls_refresh, logger_tls_period } = sent.intervals;
    const isKnown =
      (distributed_interval ?? state.distributedInterval) === state.distributedInterval &&
      (config_tls_refresh ?? state.configTlsRefresh) === state.configTlsRefresh &&
      (logger_tls_period ?? state.loggerTlsPeriod) === state.loggerTlsPeriod;
    state.config = sent;
    return isKnown ? sent.reply : keepIntervals(state, sent.intervals).then(() => sent.reply);
  }

  /** Stores changed intervals immediately, since they determine how long the host counts as online. */
  async function keepIntervals(state: HostState, intervals: Intervals): Promise<void> {
    state.distributedInterval = intervals.distributed_interval ?? state.distributedInterval;
    state.configTlsRefresh = intervals.config_tls_refresh ?? state.configTlsRefresh;
    state.loggerTlsPeriod = intervals.logger_tls_period ?? state.loggerTlsPeriod;
    const now = clock.now();
    const seen = seenRow(
      { id: state.id, distributed_interval: state.distributedInterval, config_tls_refresh: state.configTlsRefresh },
      now,
    );
    try {
      await store.tx((tx) => writeIntervals(tx, seen, intervals, now));
    } catch (error) {
      // The configuration is valid; storing the intervals is retried at the next request.
      state.config = null;
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  async function write(body: string, request: AgentRequest, since: number): Promise<AgentReply> {
    const parts = await parseWrite(body, details);
    const key = nodeKey(parts.node_key, request.authorization);
    if (typeof key !== "string") return key;
    return forHost(key, request, async (state) => {
      assertTimely(since);
      const results = readResults(parts, details);
      if (results.live.size > 0) await live.take(state.id, results.live);
      const rest = results.live.size > 0 ? { ...results, live: new Map() } : results;
      if (!isEmpty(rest))
        await ingest.add({ state, address: request.address, results: rest, length: body.length }, since);
      return OK;
    });
  }

  function logs(body: string, authorization: string | undefined, caller: Caller): HandledReply {
    const members = objectMembers(body);
    const at = members.get("node_key");
    const key = nodeKey(at && parseSpan(body, at), authorization);
    if (typeof key !== "string") return key;
    return forHost(key, caller, (state) => intake.accept(state, body, members));
  }

  function keyed(body: string, request: AgentRequest, then: (state: HostState) => HandledReply): HandledReply {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (!isRecord(value)) return malformed;
    const key = nodeKey(value.node_key, request.authorization);
    return typeof key === "string" ? forHost(key, request, then) : key;
  }

  function beginCarve(body: string, request: AgentRequest): HandledReply {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (!isRecord(value)) return malformed;
    const key = nodeKey(value.node_key, request.authorization);
    return typeof key === "string" ? forHost(key, request, ({ id }) => carves.begin(id, value)) : key;
  }

  async function yaraRule(name: string): Promise<AgentReply> {
    const { yara_rules } = await services.config.current();
    const rule = yara_rules.find((rule) => rule.name === name);
    return rule ? { status: 200, body: rule.contents, plain: true } : failure(404, "there is no such YARA rule");
  }

  function enroll(body: string, caller: Caller, since: number): HandledReply {
    const value: unknown = parseSpan(body, { start: 0, end: body.length });
    if (!isRecord(value)) return malformed;
    return enrollment.enroll(value, caller, since);
  }

  function dispatch(endpoint: EndpointName, request: AgentRequest): HandledReply {
    // Polls and configurations are answered from memory, as cheaply as refusing them.
    const since = endpoint === "distributed/read" || endpoint === "config" ? 0 : (request.since ?? load.arrival());
    if (since > 0) assertTimely(since);
    if (endpoint === "carve/block") return load.isFull() ? busy : carves.block(request.body, request.authorization);
    const body = request.body.toString("utf8");
    switch (endpoint) {
      case "distributed/read":
        return keyed(body, request, (state) => read(state, request));
      case "config":
        return keyed(body, request, config);
      case "log":
        return logs(body, request.authorization, request);
      case "distributed/write":
        return write(body, request, since);
      case "enroll":
        return enroll(body, request, since);
      case "carve/begin":
        return beginCarve(body, request);
      case "yara":
        return keyed(body, request, () => yaraRule(request.name ?? ""));
    }
  }

  return {
    load,
    senderOf,
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
      await seen.stop();
      await reports.stop();
      await intake.stop();
      await cache.stop();
      await configs.stop();
      await plans.stop();
      await labels.stop();
      await policies.stop();
      unknownKeys.stop();
      load.stop();
    },
  };
}

const keyInHeader = (authorization: string | undefined): string =>
  authorization?.startsWith("NodeKey ") ? authorization.slice(8).trim() : "";

/** The node key of a request, or an error reply. It is in the body, and since agent 5.23 also in the header. */
function nodeKey(inBody: unknown, authorization: string | undefined): string | AgentReply {
  const keyInBody = typeof inBody === "string" ? inBody : "";
  const inHeader = keyInHeader(authorization);
  if (keyInBody !== "" && inHeader !== "" && keyInBody !== inHeader)
    return failure(400, "the node keys of body and Authorization header differ");
  const key = keyInBody || inHeader;
  if (key === "" || key.length > KEY_MAX) return nodeInvalid();
  return key;
}
