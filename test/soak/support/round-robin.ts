// A proxy in front of several servers: consecutive requests of a caller never reach the same one.
import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Identifies the caller. Requests without it count as one caller. */
export const CALLER = "x-caller";

export interface RoundRobin {
  readonly url: string;
  /** The number of requests that each server got. */
  readonly counts: readonly number[];
  close(): Promise<void>;
}

export interface RoundRobinOptions {
  /**
   * How often /healthz of each server is requested: one that does not answer 200 receives no requests. Without it, all
   * receive their share.
   */
  readonly probeMs?: number;
}

/** Headers of one connection only (RFC 9110, 7.6.1): the proxy's connections have their own. */
const withoutConnection = <T extends Record<string, unknown>>({ connection, "keep-alive": _, ...headers }: T) =>
  headers;

export async function roundRobin(targets: readonly string[], { probeMs }: RoundRobinOptions = {}): Promise<RoundRobin> {
  const counts = targets.map(() => 0);
  const isUp = targets.map(() => true);
  const agent = new Agent({ keepAlive: true });
  const probe = async () => {
    await Promise.all(
      targets.map(async (target, at) => {
        isUp[at] = await fetch(`${target}/healthz`, { headers: { connection: "close" } }).then(
          async (reply) => (await reply.text()) !== "" && reply.ok,
          () => false,
        );
      }),
    );
  };
  const probing = probeMs === undefined ? undefined : setInterval(() => void probe(), probeMs);
  // A separate turn for each caller: with a common one, callers that alternate would each stay on one server.
  const turns = new Map<string, number>();
  const server: Server = createServer((req, res) => {
    const caller = String(req.headers[CALLER] ?? "");
    const turn = turns.get(caller) ?? turns.size;
    turns.set(caller, turn + 1);
    const at = nextUp(turn);
    counts[at]!++;
    const { hostname, port } = new URL(targets[at]!);
    const headers = withoutConnection(req.headers);
    const passed = request({ hostname, port, method: req.method, path: req.url, headers, agent }, (reply) => {
      res.writeHead(reply.statusCode ?? 502, withoutConnection(reply.headers));
      reply.pipe(res);
    });
    passed.on("error", () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    res.on("close", () => passed.destroy());
    req.pipe(passed);
  });
  /** Whoever's turn it is, or the next one after it that is up. */
  function nextUp(turn: number): number {
    for (let i = 0; i < targets.length; i++) if (isUp[(turn + i) % targets.length]) return (turn + i) % targets.length;
    return turn % targets.length;
  }
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
