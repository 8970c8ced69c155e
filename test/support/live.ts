// Hosts that answer live queries, without other pending work.

import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import type { Agent } from "../../src/server/edge/agent/agent.ts";
import { liveQueries } from "../../src/server/inventory/live-queries/hub.ts";
import { LIVE_PREFIX } from "../../src/server/platform/agent-protocol/names.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import type { TestApp } from "./app.ts";
import { type HostRow, makeHost } from "./make.ts";

type Rows = unknown;
type Deps = Pick<TestApp, "store" | "clock">;

export interface Answer {
  readonly rows?: Rows;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly stats?: unknown;
}

/** A host without pending work, and its agent. */
export class LiveHost {
  readonly row: HostRow;
  readonly key: string;
  readonly agent: Agent;

  constructor(row: HostRow, key: string, agent: Agent) {
    this.row = row;
    this.key = key;
    this.agent = agent;
  }

  get id(): number {
    return this.row.id;
  }

  /** The host with another server. */
  at(agent: Agent): LiveHost {
    return new LiveHost(this.row, this.key, agent);
  }

  async send(endpoint: "distributed/read" | "distributed/write", body: unknown) {
    const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const reply = await this.agent.replyTo(endpoint, {
      body: Buffer.isBuffer(text) ? text : Buffer.from(text),
      authorization: undefined,
      address: "127.0.0.1",
    });
    return { status: reply.status, json: JSON.parse(reply.body) as Record<string, unknown> };
  }

  /** The queries that it gets, by name. */
  async read(): Promise<Record<string, string>> {
    const { json } = await this.send("distributed/read", { node_key: this.key });
    if (!json.queries) throw new Error(`no work: ${JSON.stringify(json)}`);
    return json.queries as Record<string, string>;
  }

  /** The live queries among them. */
  async asked(): Promise<number[]> {
    return Object.keys(await this.read()).flatMap((name) =>
      name.startsWith(LIVE_PREFIX) ? [Number(name.slice(LIVE_PREFIX.length))] : [],
    );
  }

  async answer(id: number, { rows = [], status = 0, message = "", stats = {} }: Answer = {}) {
    const name = LIVE_PREFIX + id;
    return this.send("distributed/write", {
      node_key: this.key,
      queries: { [name]: rows },
      statuses: { [name]: status },
      messages: { [name]: message },
      stats: { [name]: stats },
    });
  }

  /** Polls until it gets a live query, and sends a result. Returns the id of the live query. */
  async serve(answer: Answer = {}): Promise<number> {
    let id: number | undefined;
    const asked = async () => {
      [id] = await this.asked();
      return id;
    };
    await expect.poll(asked, { message: "the host is asked", interval: 10 }).toBeDefined();
    const { status, json } = await this.answer(id!, answer);
    if (status !== 200 || "error" in json) throw new Error(`not taken: ${status} ${JSON.stringify(json)}`);
    return id!;
  }
}

/**
 * Waits until this server knows that the query runs: it reads the query after a message, which takes time under load.
 */
export const isRunning = (t: Pick<TestApp, "services">, id: number): Promise<void> =>
  expect.poll(() => t.services.running.of(liveQueries).active.has(id), { message: `live query ${id} runs` }).toBe(true);

let serial = 0;

/** `online: false`: last seen a day ago. */
export async function makeLiveHost(
  t: Deps & Pick<TestApp, "agent">,
  given: Partial<HostRow> = {},
  { online = true }: { online?: boolean } = {},
): Promise<LiveHost> {
  const key = `live-node-key-${++serial}`;
  const now = t.clock.iso();
  const { id: _id, revision: _revision, ...more } = given;
  const row = await makeHost(
    t,
    {
      refetch_requested: false,
      detail_updated_at: now,
      label_updated_at: now,
      policy_updated_at: now,
      created_at: "2026-01-01T00:00:00.000Z",
      ...more,
      node_key_hash: tokenHash(key),
    },
    { seen: online ? now : "2026-02-27T00:00:00.000Z" },
  );
  return new LiveHost(row, key, t.agent);
}

/** From now on every online host sends a result for each live query immediately, as `answer` returns it. */
export async function answerLiveQueries(
  t: Deps & Pick<TestApp, "agent" | "services">,
  answer: (host: HostRow, sql: string) => Answer = () => ({ rows: [{ answer: "42" }] }),
): Promise<() => Promise<void>> {
  const keyed = new Map<number, LiveHost>();
  for (const row of await t.store.hosts.list()) {
    const seen = await t.store.hostSeen.get(row.id);
    if (!seen || seen.online_until <= t.clock.iso()) continue;
    const key = `answering-${row.id}`;
    const now = t.clock.iso();
    const set = {
      node_key_hash: tokenHash(key),
      refetch_requested: false,
      detail_updated_at: now,
      label_updated_at: now,
      policy_updated_at: now,
    };
    await t.store.hosts.updateEach([{ id: row.id, ...set }]);
    keyed.set(row.id, new LiveHost(row, key, t.agent));
  }
  const poll = async () => {
    for (const host of keyed.values())
      for (const [name, sql] of Object.entries(await host.read()))
        if (name.startsWith(LIVE_PREFIX))
          await host.answer(Number(name.slice(LIVE_PREFIX.length)), answer(host.row, sql));
  };
  const { active } = t.services.running.of(liveQueries);
  let isOver = false;
  // The server reads a new query first; only then can hosts get it.
  const answerTo = async (id: number) => {
    while (!isOver && !active.has(id)) {
      const row = await t.store.campaigns.get(id);
      if (!row || row.status === 2) return;
      await pause(10);
    }
    // Hosts are handled in turn, so this one may have got another query in the meantime.
    const isWaiting = () => [...keyed.keys()].some((hostId) => active.get(id)?.waiting.has(hostId));
    for (; !isOver && isWaiting(); await pause(10)) await poll();
  };
  const stop = await t.store.listen(channels.live, (payload) => {
    const { kind, id } = JSON.parse(payload) as { kind: string; id: number };
    // Fails if the app is closed during the request.
    if (kind === "new") void answerTo(id).catch(() => {});
  });
  return async () => {
    isOver = true;
    await stop();
  };
}

export interface StreamEvent {
  readonly id: number;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: the data of whatever event
  readonly data: any;
}

/** The events of a stream as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split("\n")
          .map((line): [string, string] => [
            line.slice(0, line.indexOf(":")),
            line.slice(line.indexOf(":") + 1).trim(),
          ]),
      );
      text = text.slice(end + 2);
      if (fields.event) yield { id: Number(fields.id), event: fields.event, data: JSON.parse(fields.data ?? "null") };
    }
  }
}

/** Reads until a matching event of that kind; returns all that were read. */
export async function readUntil(
  events: AsyncGenerator<StreamEvent>,
  fits: (event: StreamEvent) => boolean,
): Promise<StreamEvent[]> {
  const read: StreamEvent[] = [];
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error(`the stream ended after ${JSON.stringify(read).slice(0, 2000)}`);
    read.push(value);
    if (fits(value)) return read;
  }
}
