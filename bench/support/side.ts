// Compares two servers, each in a process of its own, in alternating rounds of one run: requests per second, and CPU time
// per request.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { median } from "./figures.ts";

const CONNECTIONS = 32;
const ROUNDS = 5;
const SECONDS = 1.5;

/** What a server sends when it is ready. */
interface Ready {
  readonly port: number;
}

export interface Measurement {
  readonly rate: number;
  /** The server's CPU time per request, in microseconds. */
  readonly cpu: number;
}

/** A server in a process of its own. */
export class Side<R extends Ready> {
  readonly #child: ChildProcess;
  readonly ready: R;

  private constructor(child: ChildProcess, ready: R) {
    this.#child = child;
    this.ready = ready;
  }

  /** The script sends what `ready` becomes, answers each message with its CPU time, and ends with the connection. */
  static async start<R extends Ready>(script: string, args: readonly string[]): Promise<Side<R>> {
    const child = fork(script, args, { stdio: "inherit" });
    const [ready] = (await once(child, "message")) as [R];
    return new Side(child, ready);
  }

  async #cpu(): Promise<number> {
    this.#child.send("cpu");
    const [{ user, system }] = (await once(this.#child, "message")) as [NodeJS.CpuUsage];
    return user + system;
  }

  async measure(requests: readonly Buffer[]): Promise<Measurement> {
    const before = await this.#cpu();
    const started = performance.now();
    const counts = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, i) => load(this.ready.port, requests, i * 313)),
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

/** Prints the rate of the one server, as a share of that of the bare one. */
export async function compare(
  name: string,
  { served, bare }: Readonly<Record<"served" | "bare", Side<Ready>>>,
  requests: readonly Buffer[],
): Promise<void> {
  await bare.measure(requests);
  await served.measure(requests);
  const rounds: { bare: Measurement; served: Measurement }[] = [];
  for (let i = 0; i < ROUNDS; i++)
    rounds.push({ bare: await bare.measure(requests), served: await served.measure(requests) });
  const rate = median(rounds.map((round) => round.served.rate / round.bare.rate));
  const cpu = median(rounds.map((round) => round.bare.cpu / round.served.cpu));
  const of = (side: "bare" | "served") =>
    `${median(rounds.map((round) => round[side].rate)).toFixed(0)}/s (${median(rounds.map((round) => round[side].cpu)).toFixed(1)} µs)`;
  console.log(
    `${name.padEnd(17)} ${rate.toFixed(2)} of bare node:http by rate, ${cpu.toFixed(2)} by processor time; ${of("served")} against ${of("bare")}`,
  );
}
