import { judge, nodeKeyOf, type ReplyVerdict } from "../../agent-wire/verdict.ts";
import { versionCompare } from "../../agent-wire/version-compare.ts";
import type { Endpoint } from "../stats.ts";
import type { Answer } from "../wire/parser.ts";
import type { Call, Channel } from "../wire/transport.ts";
import type { World } from "./world.ts";

/** From this version on the node key is also sent as a header. */
const HEADER_SINCE = "5.23.0";
const MAX_ENROLL_WAIT_S = 600;

/** `sends`: how many times the request may have reached the server. */
type CallOutcome = { sends: number } & (
  | { ok: true; json: Record<string, unknown> | null; text: string }
  | { ok: false; reason: string }
);
type Body = string | { gzip: Buffer };

/** The calls of one agent: node key, enrollment as part of a retry, and waits between retries. */
export class Caller {
  nodeKey: string | null = null;
  readonly #world: World;
  readonly #version: string;
  readonly #enrollBody: () => string;
  readonly #sendsHeader: boolean;
  #enrolling: Promise<boolean> | null = null;
  #hadKey = false;

  constructor(world: World, version: string, enrollBody: () => string) {
    this.#world = world;
    this.#version = version;
    this.#enrollBody = enrollBody;
    this.#sendsHeader = versionCompare(version, HEADER_SINCE) >= 0;
  }

  resume(nodeKey: string): void {
    this.nodeKey = nodeKey;
    this.#hadKey = true;
  }

  /**
   * One call of a plugin: up to `attempts` tries with n² seconds between them. A reply equal to `cachedText` is a success
   * and is not parsed again.
   */
  async call(
    endpoint: Endpoint,
    channel: Channel,
    attempts: number,
    body: (nodeKey: string) => Body,
    cachedText?: string,
  ): Promise<CallOutcome> {
    let outcome: CallOutcome = { ok: false, reason: "not tried", sends: 0 };
    let sends = 0;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      outcome = await this.#attempt(endpoint, channel, body, cachedText);
      sends += outcome.sends;
      if (outcome.ok || attempt === attempts || this.#world.stopping) break;
      await this.#world.sleep(attempt * attempt * 1000);
    }
    return { ...outcome, sends };
  }

  /**
   * A call of the carver. Only a broken connection or a body that is not JSON is a failure: neither `error` nor the
   * status is checked. Null if every try failed.
   */
  async carve(
    endpoint: Endpoint,
    channel: Channel,
    attempts: number,
    body: (nodeKey: string) => string,
  ): Promise<Record<string, unknown> | null> {
    const key = this.nodeKey ?? "";
    for (let attempt = 1; ; attempt++) {
      const { answer } = await this.#exchange(endpoint, channel, this.#fieldsFor(key), body(key));
      const json = answer && jsonOf(answer.body);
      if (json) return json;
      if (answer) this.#world.stats.failed(endpoint, answer.body);
      if (attempt >= attempts || this.#world.stopping) return null;
      await this.#world.sleep(attempt * attempt * 1000);
    }
  }

  /** Enrolls. All threads of an agent share one series of enrollment attempts. */
  enroll(channel: Channel): Promise<boolean> {
    this.#enrolling ??= this.#enrollSeries(channel).finally(() => {
      this.#enrolling = null;
    });
    return this.#enrolling;
  }

  async #attempt(
    endpoint: Endpoint,
    channel: Channel,
    body: (key: string) => Body,
    cachedText?: string,
  ): Promise<CallOutcome> {
    if (this.nodeKey === null && !(await this.enroll(channel))) return { ok: false, reason: "not enrolled", sends: 0 };
    const key = this.nodeKey ?? "";
    const content = body(key);
    const fields = this.#fieldsFor(key) + (typeof content === "string" ? "" : "Content-Encoding: gzip\r\n");
    const wire = typeof content === "string" ? content : content.gzip;
    const { answer, sends } = await this.#exchange(endpoint, channel, fields, wire);
    if (!answer) return { ok: false, reason: "no reply", sends };
    if (cachedText !== undefined && answer.body === cachedText)
      return { ok: true, json: null, text: cachedText, sends };
    const verdict = judge(answer.body);
    if (verdict.ok) return { ok: true, json: verdict.json, text: answer.body, sends };
    this.#refused(endpoint, verdict, key);
    return { ok: false, reason: verdict.reason, sends };
  }

  #refused(endpoint: Endpoint, verdict: Extract<ReplyVerdict, { ok: false }>, key: string): void {
    const { stats } = this.#world;
    stats.failed(endpoint, verdict.reason);
    if (verdict.undefinedAnswer) stats.undefinedAnswers++;
    if (!verdict.nodeInvalid) return;
    stats.nodeInvalid++;
    // Another thread may have enrolled in the meantime, so only the refused key is dropped.
    if (this.nodeKey === key) this.nodeKey = null;
  }

  async #enrollSeries(channel: Channel): Promise<boolean> {
    const { settings, stats } = this.#world;
    for (let attempt = 1; ; attempt++) {
      const { answer } = await this.#exchange("enroll", channel, this.#world.fields(this.#version), this.#enrollBody());
      const key = answer && nodeKeyOf(answer.body);
      if (key) {
        this.nodeKey = key;
        if (this.#hadKey) stats.reEnrolled++;
        else stats.enrolled++;
        this.#hadKey = true;
        return true;
      }
      if (answer) stats.failed("enroll", answer.body);
      if (this.#world.stopping || attempt === settings.enrollAttempts) return false;
      await this.#world.sleep(Math.min(attempt * attempt, MAX_ENROLL_WAIT_S) * 1000);
      if (this.#world.stopping) return false;
    }
  }

  /** Sends one request and counts it. Null if no complete reply was received. */
  async #exchange(
    endpoint: Endpoint,
    channel: Channel,
    fields: string,
    body: string | Buffer,
  ): Promise<{ answer: Answer | null; sends: number }> {
    const { stats, wheel } = this.#world;
    const started = wheel.now();
    const call: Call = { path: this.#world.pathOf(endpoint), fields, body };
    const exchange = await channel.exchange(call);
    const ms = wheel.now() - started;
    const sends = exchange.sends ?? 1;
    if (exchange.ok) {
      const sent = typeof body === "string" ? body.length : body.byteLength;
      stats.answered(endpoint, exchange.answer.status, ms, sent, exchange.answer.bytes);
      return { answer: exchange.answer, sends };
    }
    if (exchange.reason === "stopped") return { answer: null, sends };
    stats.unanswered(endpoint, exchange.reason, ms);
    stats.failed(endpoint, `${exchange.reason}: ${exchange.detail}`);
    return { answer: null, sends };
  }

  #fieldsFor(key: string): string {
    const fields = this.#world.fields(this.#version);
    return this.#sendsHeader ? `${fields}Authorization: NodeKey ${key}\r\n` : fields;
  }
}

function jsonOf(body: string): Record<string, unknown> | null {
  try {
    const json: unknown = JSON.parse(body);
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
