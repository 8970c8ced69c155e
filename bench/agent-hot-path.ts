// The cost of an idle host's requests, compared with a bare node:http server that parses the same JSON and replies
// {}. The two are measured in alternating rounds of one run: requests per second, and the server's CPU time per
// request.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { median } from "./support/figures.ts";
import { type Ready, STORED_QUERY } from "./support/hot-path-ready.ts";

const CONNECTIONS = 32;
const HOSTS = 10_000;
const ROUNDS = 5;
const SECONDS = 1.5;
const script = fileURLToPath(new URL("./support/hot-path-server.ts", import.meta.url));

interface Measured {
  readonly rate: number;
  /** The server's CPU time per request, in microseconds. */
  readonly cpu: number;
}

class Side {
  readonly #child: ChildProcess;
  readonly #ready: Ready;

  private constructor(child: ChildProcess, ready: Ready) {
    this.#child = child;
    this.#ready = ready;
  }

  static async start(kind: "bare" | "agents"): Promise<Side> {
    const child = fork(script, [kind, String(HOSTS)], { stdio: "inherit" });
    const [ready] = (await once(child, "message")) as [Ready];
    return new Side(child, ready);
  }

  get keys(): readonly string[] {
    return this.#ready.keys;
  }

  async #cpu(): Promise<number> {
    this.#child.send("cpu");
    const [{ user, system }] = (await once(this.#child, "message")) as [NodeJS.CpuUsage];
    return user + system;
  }

  async measure(requests: readonly Buffer[]): Promise<Measured> {
    const before = await this.#cpu();
    const started = performance.now();
    const counts = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, i) => load(this.#ready.port, requests, i * 313)),
    );
    const count = counts.reduce((sum, n) => sum + n, 0);
    const seconds = (performance.now() - started) / 1000;
    return { rate: count / seconds, cpu: ((await this.#cpu()) - before) / count };
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** One keep-alive connection that sends the next request when the reply to the last has arrived. */
async function load(port: number, requests: readonly Buffer[], offset: number): Promise<number> {
  const socket: Socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await once(socket, "connect");
  const until = performance.now() + SECONDS * 1000;
  let at = offset;
  let count = 0;
  let missing = 0;
  await new Promise<void>((resolve, reject) => {
    const next = () => void socket.write(requests[at++ % requests.length]!);
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      if (missing === 0) {
        const head = chunk.indexOf("\r\n\r\n");
        const length = /content-length: (\d+)/i.exec(chunk.toString("latin1", 0, head))?.[1];
        if (chunk.toString("latin1", 9, 12) !== "200" || length === undefined)
          return reject(new Error(chunk.toString()));
        missing = head + 4 + Number(length);
      }
      missing -= chunk.length;
      if (missing > 0) return;
      count++;
      if (performance.now() < until) next();
      else resolve();
    });
    next();
  });
  socket.destroy();
  return count;
}

const requestOf = (path: string, body: string): Buffer =>
  Buffer.from(
    `POST /api/v1/qengine/${path} HTTP/1.1\r\nHost: localhost:8412\r\nUser-Agent: osquery/5.23.0\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

const line = JSON.stringify({
  name: "pack/Global/usb_devices",
  hostIdentifier: "0A1B2C3D-0000-1111-2222-333344445555",
  calendarTime: "Sun Mar  1 12:00:00 2026 UTC",
  unixTime: 1_772_366_400,
  epoch: 0,
  counter: 12,
  numerics: false,
  decorations: { host_uuid: "0A1B2C3D-0000-1111-2222-333344445555", hostname: "host.example.com" },
  columns: { model: "Keyboard", vendor: "Example", serial: "x".repeat(60), usb_address: "3", usb_port: "2" },
  action: "added",
});

/** A snapshot of a scheduled query. */
const snapshotOf = (name: string): string =>
  JSON.stringify({
    name: `pack/Global/${name}`,
    hostIdentifier: "0A1B2C3D-0000-1111-2222-333344445555",
    calendarTime: "Sun Mar  1 12:00:00 2026 UTC",
    unixTime: 1_772_366_400,
    epoch: 0,
    counter: 0,
    numerics: false,
    decorations: { host_uuid: "0A1B2C3D-0000-1111-2222-333344445555", hostname: "host.example.com" },
    snapshot: Array.from({ length: 5 }, (_, i) => ({ model: "Keyboard", vendor: "Example", usb_port: String(i) })),
    action: "snapshot",
  });

const logOf = (node_key: string, data: string): string =>
  `{"node_key":${JSON.stringify(node_key)},"log_type":"result","data":[${data}]}`;

interface Kind {
  readonly path: string;
  readonly body: (key: string) => string;
}
const snapshot = snapshotOf("another_query");
const stored = snapshotOf(STORED_QUERY);
const kinds: Readonly<Record<string, Kind>> = {
  "distributed/read": { path: "distributed/read", body: (node_key) => JSON.stringify({ node_key }) },
  config: { path: "config", body: (node_key) => JSON.stringify({ node_key }) },
  log: { path: "log", body: (node_key) => logOf(node_key, line) },
  // The difference between these two is what it costs to store a report before the acknowledgement.
  snapshot: { path: "log", body: (node_key) => logOf(node_key, snapshot) },
  "stored snapshot": { path: "log", body: (node_key) => logOf(node_key, stored) },
};

export async function run(args: readonly string[]): Promise<void> {
  const agents = await Side.start("agents");
  const bare = await Side.start("bare");
  try {
    for (const [name, { path, body }] of Object.entries(kinds)) {
      if (args.length > 0 && !args.includes(name)) continue;
      const requests = agents.keys.map((key) => requestOf(path, body(key)));
      await bare.measure(requests);
      await agents.measure(requests);
      const rounds: { bare: Measured; agents: Measured }[] = [];
      for (let i = 0; i < ROUNDS; i++)
        rounds.push({ bare: await bare.measure(requests), agents: await agents.measure(requests) });
      const rate = median(rounds.map((round) => round.agents.rate / round.bare.rate));
      const cpu = median(rounds.map((round) => round.bare.cpu / round.agents.cpu));
      const of = (side: "bare" | "agents") =>
        `${median(rounds.map((round) => round[side].rate)).toFixed(0)}/s (${median(rounds.map((round) => round[side].cpu)).toFixed(1)} µs)`;
      console.log(
        `${name.padEnd(17)} ${rate.toFixed(2)} of bare node:http by rate, ${cpu.toFixed(2)} by processor time; ${of("agents")} against ${of("bare")}`,
      );
    }
  } finally {
    agents.stop();
    bare.stop();
  }
}
