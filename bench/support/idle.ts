// Idle devices: a complete server with enrolled devices for which nothing waits, compared with a bare node:http server.
import { fileURLToPath } from "node:url";
import { compare, Side } from "./side.ts";

/** What the servers send when they are ready. */
export interface IdleReady {
  readonly port: number;
  /** Requests of the devices: they ask for commands, and there are none. */
  readonly requests: readonly string[];
}

/** Starts the script, which calls `serveIdle`, with the name of each store and as the bare server. */
export async function compareIdle(script: URL, only: readonly string[]): Promise<void> {
  const file = fileURLToPath(script);
  for (const engine of ["lowdb", "postgres"]) {
    if (only.length > 0 && !only.includes(engine)) continue;
    const served = await Side.start<IdleReady>(file, [engine]);
    const bare = await Side.start<IdleReady>(file, ["bare"]);
    try {
      await compare(engine, { served, bare }, served.ready.requests.map(Buffer.from));
    } finally {
      served.stop();
      bare.stop();
    }
  }
}

interface Servers {
  /** Ends by itself when its parent has gone. */
  complete(engine: "lowdb" | "postgres"): Promise<IdleReady>;
  bare(): Promise<IdleReady>;
}

/** In the process of a server: starts the one that the first argument names, and answers its parent. */
export async function serveIdle({ complete, bare }: Servers): Promise<void> {
  const [kind] = process.argv.slice(2);
  process.on("message", () => process.send?.(process.cpuUsage()));
  if (kind === "lowdb" || kind === "postgres") process.send?.(await complete(kind));
  else {
    process.on("disconnect", () => process.exit(0));
    process.send?.(await bare());
  }
}
