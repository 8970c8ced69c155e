// The `scepserver` of Debian's package `scep`: an implementation of SCEP that is independent of this project.
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { newDir } from "./ca-fakes.ts";
import { afterEveryTest } from "./ends.ts";
import { freePort } from "./free-port.ts";
import { haveProgram } from "./tools.ts";

const run = promisify(execFile);

/** Whether the program is available. */
export const haveScepServer = (): boolean => haveProgram("scepserver", "scep");

const running = new Set<() => Promise<void>>();
afterEveryTest(async () => {
  for (const stop of running) await stop();
});

/** A server with an authority of its own; returns its URL for enrollment, and the file of its certificate (PEM). */
export async function startScepServer(challenge: string): Promise<{ url: string; ca: string; stop(): Promise<void> }> {
  const depot = newDir();
  await run("scepserver", ["ca", "-init", "-depot", depot, "-keySize", "2048"]);
  const port = await freePort();
  const child = spawn("scepserver", ["-depot", depot, "-port", String(port), "-challenge", challenge], {
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    running.delete(stop);
    child.kill("SIGKILL");
    await ended;
  };
  running.add(stop);
  const url = `http://127.0.0.1:${port}/scep`;
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${url}?operation=GetCACaps`).catch(() => null);
    if (answer?.ok) return { url, ca: join(depot, "ca.pem"), stop };
    if (tries === 600 || child.exitCode !== null) throw new Error("scepserver does not start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
