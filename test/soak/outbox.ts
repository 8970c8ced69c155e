// Webhooks while their receiver is unreachable and the server is killed: no acknowledged event is lost, the order of
// deliveries is preserved, and a repeated delivery has the same id.
//   npm run test:soak -- outbox --engine lowdb|postgres|both --minutes 10 --rate 20
import { createServer, type Server } from "node:http";
import { freePort } from "../support/free-port.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf, pause, until } from "./support/check.ts";
import { Door, everyRow } from "./support/door.ts";

export interface OutboxOptions {
  readonly engine: "lowdb" | "postgres";
  /** How long the receiver is unreachable. */
  readonly downMs: number;
  /** Events per second. */
  readonly rate: number;
}

interface Came {
  readonly id: string;
  readonly name: string;
  readonly body: string;
}

/** A receiver that can be unreachable, and sometimes fails while it is reachable. */
class Receiver {
  readonly came: Came[] = [];
  readonly port: number;
  #server: Server | null = null;

  constructor(port: number) {
    this.port = port;
  }

  async up(): Promise<void> {
    const server = createServer((request, reply) => {
      let body = "";
      request.on("data", (part) => {
        body += part;
      });
      request.on("end", () => {
        const { type, details } = JSON.parse(body) as { type: string; details: { query_name?: string } | null };
        const name = type === "edited_saved_query" ? (details?.query_name ?? "") : "";
        this.came.push({ id: String(request.headers["webhook-id"]), name, body });
        // Sometimes it has processed the request, but its reply is lost.
        if (Math.random() < 0.002) request.socket.destroy();
        else reply.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", resolve);
    });
    this.#server = server;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.closeAllConnections();
    await new Promise((closed) => server?.close(closed));
  }
}

export async function outboxOutage({ engine, downMs, rate }: OutboxOptions): Promise<string> {
  const bed = await Bed.make({ engine, env: { SVC_OUTBOUND_ALLOW: "127.0.0.1" } });
  const receiver = new Receiver(await freePort());
  let stopped = false;
  try {
    await receiver.up();
    const door = await Door.open(await bed.start());
    const call = door.caller();
    const { query } = await call<{ query: { id: number } }>("POST", "/queries", { name: "event 0", query: "SELECT 1" });
    const activities_webhook = {
      enable_activities_webhook: true,
      destination_url: `http://127.0.0.1:${receiver.port}/`,
    };
    await call("PATCH", "/config", { webhook_settings: { activities_webhook } });

    const acknowledged: string[] = [];
    const asked = new Set<Promise<void>>();
    let made = 0;
    const write = async () => {
      const name = `event ${++made}`;
      const answer = await door.call("PATCH", `/queries/${query.id}`, { name });
      if (answer?.status === 200) acknowledged.push(name);
    };
    const writing = (async () => {
      for (let next = performance.now(); !stopped; next += 1000 / rate) {
        await pause(Math.max(0, next - performance.now()));
        const one: Promise<void> = write().finally(() => asked.delete(one));
        asked.add(one);
      }
      await Promise.all(asked);
    })();

    await pause(3_000);
    await receiver.down();
    for (let kill = 0; kill < 2; kill++) {
      await pause(downMs / 3);
      await bed.alive.stop("SIGKILL");
      await bed.start();
    }
    await pause(downMs / 3);
    const waiting = acknowledged.length - new Set(receiver.came.map(({ name }) => name)).size;
    await receiver.up();
    await pause(5_000);
    const enough = (downMs / 1000) * rate * 0.5;
    await until(`${enough} events are acknowledged`, 120_000, () => acknowledged.length > enough);
    stopped = true;
    await writing;
    const names = () => new Set(receiver.came.map(({ name }) => name));
    const lost = () => {
      const got = names();
      return acknowledged.filter((name) => !got.has(name));
    };
    const drained = await until(
      "everything that was acknowledged",
      720_000,
      () => receiver.came.length > 0 && lost().length === 0,
    ).catch(() => null);
    insist(drained !== null, () => `${engine}: ${lost().length} of ${acknowledged.length} events were lost`);
    return await verify(engine, { call, receiver, acknowledged: acknowledged.length, waiting, drained, bed });
  } finally {
    stopped = true;
    await receiver.down();
    await bed.dispose();
  }
}

interface Result {
  readonly call: ReturnType<Door["caller"]>;
  readonly receiver: Receiver;
  readonly acknowledged: number;
  readonly waiting: number;
  readonly drained: number;
  readonly bed: Bed;
}

async function verify(
  engine: string,
  { call, receiver, acknowledged, waiting, drained, bed }: Result,
): Promise<string> {
  await until("the last outcome", 60_000, async () => {
    const { deliveries } = await call<{ deliveries: unknown[] }>(
      "GET",
      "/webhooks/deliveries?state=pending&per_page=1",
    );
    return deliveries.length === 0;
  });
  const rows = await everyRow(call, "/webhooks/deliveries", "deliveries");
  insist(
    rows.every(({ state }) => state === "delivered"),
    "a delivery was given up",
  );
  const first = new Map<string, Came>();
  const doubled = receiver.came.filter((one) => {
    const known = first.get(one.id);
    if (!known) first.set(one.id, one);
    else insist(known.body === one.body, `two messages have the id ${one.id}`);
    return known !== undefined;
  }).length;
  const order = [...first.keys()];
  const wanted = rows.map((row) => String(row.message_id));
  const wrong = wanted.filter((id, i) => order[i] !== id).length;
  insist(wrong === 0, () => `${wrong} of ${wanted.length} deliveries came out of order`);
  const named = [...first.values()].filter(({ name }) => name !== "").map(({ name }) => name);
  insist(new Set(named).size === named.length, "an event came under two ids");
  await bed.stop();
  await bed.dbCheck();
  return `${engine}: ${acknowledged} events acknowledged, ${waiting} of them while the receiver was away, 2 kills: 0 lost, 0 of ${wanted.length} deliveries out of order, ${doubled} came again under their own id, all there ${Math.round(drained / 1000)} s after the writing ended`;
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const { engine = "both" } = args;
  const downMs = numberOf(args, "minutes", 1 / 3) * 60_000;
  const rate = numberOf(args, "rate", 20);
  const lines: string[] = [];
  for (const one of ["lowdb", "postgres"] as const)
    if (engine === one || engine === "both") lines.push(await outboxOutage({ engine: one, downMs, rate }));
  insist(lines.length > 0, "--engine is lowdb, postgres or both");
  return lines.join("; ");
}
