// svc hosts setup: how far the setup of a host is, and the exit code of --wait.
import { expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";
import { makeManaged } from "../support/managed.ts";
import { chooseScript, statusFor } from "../support/setups.ts";

it("shows the items of a setup, and with --wait its result", async () => {
  const { app, run } = await startFleet();
  await chooseScript(app);
  const agent = await makeManaged(app);
  const { hostname } = await agent.host();
  const show = (...argv: string[]) => run(["hosts", "setup", hostname, ...argv]);
  expect((await show()).stdout).toContain("pending");
  const early = await show("--wait", "--timeout", "1s");
  expect([early.exitCode, early.stderr]).toEqual([7, expect.stringContaining("has not ended")]);
  await statusFor(agent);
  await agent.runScript(3);
  await statusFor(agent);
  const late = await show("--wait");
  expect([late.exitCode, late.stderr]).toEqual([1, expect.stringContaining("has failed")]);
  expect(late.stdout).toContain("exit code 3");
});
