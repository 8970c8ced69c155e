// What follows settings compares with those that are stored, also if the server still has earlier ones in memory.
import { expect, it, vi } from "vitest";
import { settingsFollower } from "../../../src/server/platform/core/concurrency/settings-follower.ts";
import { startApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";

it.each(bothEngines)("compares with the stored settings on %s", async (engine) => {
  const t = await startApp({ engine });
  const seen: string[] = [];
  const follower = settingsFollower("follower of a test", { failure: "cannot compare" }, async ({ config }) => {
    seen.push((await config.current()).org_info.org_name);
  });
  const earlier = await t.services.config.current();
  await t.services.running.start(t.services, follower);
  expect((await t.patch("/config", { org_info: { org_name: "Acme" } })).status).toBe(200);
  vi.spyOn(t.services.config, "current").mockResolvedValue(earlier);
  try {
    await t.services.running.of(follower).run();
  } finally {
    vi.restoreAllMocks();
  }
  expect(seen.at(-1)).toBe("Acme");
});
