// Ports for programs that tests and benchmarks start.
import { createServer, type Server } from "node:net";

/**
 * Below the ports that Linux gives to outgoing connections and to servers that listen on any port: nothing takes one
 * while a program starts, or between its end and its next start.
 */
const FIRST = 10_000;
const BLOCKS = 220;
/** The first port of a block shows that a process has it. */
const BLOCK = 100;

/** Null if the port is used. */
function listen(port: number): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" || error.code === "EACCES" ? resolve(null) : reject(error),
    );
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

async function claim(): Promise<number> {
  for (let i = 0; i < BLOCKS; i++) {
    const first = FIRST + ((process.pid + i) % BLOCKS) * BLOCK;
    const guard = await listen(first);
    if (guard === null) continue;
    guard.unref();
    return first;
  }
  throw new Error("other processes use all ports for tests");
}

let block: Promise<number> | undefined;
let given = 0;

/** A port that this function gives to no other process, and to this one again only after many others. */
export async function freePort(): Promise<number> {
  block ??= claim();
  const first = await block;
  for (let i = 1; i < BLOCK; i++) {
    const port = first + 1 + (given++ % (BLOCK - 1));
    const probe = await listen(port);
    if (probe === null) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error("all ports of this process are used");
}
