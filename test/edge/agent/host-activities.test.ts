// Activities that a host causes by itself: equal ones are merged, and their number is bounded.
import { describe, expect, it } from "vitest";
import { hours } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { ManagedAgent, SECRET } from "../../support/managed.ts";
import { makeSecret } from "./agents.ts";

describe.each(bothEngines)("activities that a host causes on %s", (engine) => {
  it("are merged if they are equal, and bounded if they are not", async () => {
    const t = await startApp({ engine });
    await makeSecret(t, SECRET);
    const agent = await new ManagedAgent(t).enroll();
    const other = await new ManagedAgent(t).enroll();
    const escrow = async (from: ManagedAgent, passphrase: string) => {
      const { status } = await from.call("/luks_data", { passphrase, salt: "s", key_slot: 0 });
      expect(status).toBe(204);
    };
    const escrowed = () => t.store.activities.count(eq("type", "escrowed_disk_encryption_key"));
    for (let i = 0; i < 5; i++) await escrow(agent, "same");
    expect(await escrowed()).toBe(1);
    for (let i = 0; i < 120; i++) {
      await escrow(agent, `key ${i}`);
      t.clock.advance(601_000);
    }
    // Fifty at once, and as many again in the twenty hours that have passed.
    const most = await escrowed();
    expect(most).toBeGreaterThan(50);
    expect(most).toBeLessThanOrEqual(92);
    await escrow(other, "its first");
    expect(await escrowed()).toBe(most + 1);
    t.clock.advance(hours(24));
    await escrow(agent, "a day later");
    expect(await escrowed()).toBe(most + 2);
  });
});
