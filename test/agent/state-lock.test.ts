// One agent for each state folder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockState, StateInUse } from "../../src/agent/state/lock.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("locks a folder until it is unlocked", async () => {
  const unlock = await lockState(folder);
  await expect(lockState(folder)).rejects.toThrow(StateInUse);
  await unlock!();
  await (await lockState(folder))!();
});

it("takes over what a process that was killed has left", async () => {
  const listen = `require("net").createServer().listen(${JSON.stringify(join(folder, "agent.sock"))}, () => console.log("x"))`;
  const child = spawn(process.execPath, ["-e", listen], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await expect(lockState(folder)).rejects.toThrow(StateInUse);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect((await stat(join(folder, "agent.sock"))).isSocket()).toBe(true);
  await (await lockState(folder))!();
});

it("does not keep an agent from running where it cannot be locked", async () => {
  expect(await lockState(join(folder, "x".repeat(100)))).toBeNull();
  expect(await lockState(join(folder, "missing"))).toBeNull();
});
