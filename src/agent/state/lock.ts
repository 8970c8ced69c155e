// One agent for each state folder: two would use the same keys, and look to the server like a machine and its copy. The
// lock is a socket, which the system closes with the process, however that ends.
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { replaceFile } from "./files.ts";

/** Longer names of sockets are cut, or refused, by some systems (sockaddr_un has 104 bytes on macOS). */
const PATH_MAX = 100;

export class StateInUse extends Error {}

/**
 * Locks the folder until the returned function is called. Throws `StateInUse` if another process has locked it. Null:
 * it cannot be locked, for example because the disk is full, or its path is too long for a socket; the agent runs
 * nevertheless.
 */
export async function lockState(stateDir: string): Promise<(() => Promise<void>) | null> {
  try {
    return await lock(stateDir);
  } catch (error) {
    if (error instanceof StateInUse) throw error;
    return null;
  }
}

async function lock(stateDir: string): Promise<(() => Promise<void>) | null> {
  const path = await addressOf(stateDir);
  if (path === null) return null;
  for (let attempt = 1; ; attempt++) {
    const server = await listen(path);
    if (server !== null) {
      server.unref();
      return () => new Promise((resolve) => void server.close(() => resolve()));
    }
    if (attempt > 1 || (await isAnswered(path)))
      throw new StateInUse(
        `another agent uses the state folder ${stateDir}: stop it first, or give this one --state-dir`,
      );
    // A process that was killed leaves the socket's file.
    await rm(path, { force: true });
  }
}

/** Pipes of Windows are not files: the name is kept in the folder, so that only who may read it knows the name. */
async function addressOf(stateDir: string): Promise<string | null> {
  if (process.platform !== "win32") {
    const path = join(stateDir, "agent.sock");
    return Buffer.byteLength(path) <= PATH_MAX ? path : null;
  }
  const file = join(stateDir, "lock-name");
  const storedName = await readFile(file, "utf8").catch(() => "");
  const name = /^[0-9a-f-]{36}$/.test(storedName) ? storedName : randomUUID();
  if (name !== storedName) await replaceFile(file, name);
  return `\\\\.\\pipe\\svc-agent-${name}`;
}

/** Null: the address is in use. */
function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(null) : reject(error),
    );
    server.listen(path, () => resolve(server));
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
