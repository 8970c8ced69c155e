// A guarantee of the embedded engine only: one transaction has exclusive access to memory.
import { describe, expect, it } from "vitest";
import { engines } from "../../support/engines.ts";
import { testTables } from "./tables.ts";

describe("a transaction of the embedded store", () => {
  it("makes readers wait for its end, and reports the error of using the outer store inside", async () => {
    const opened = await engines[0]!.open(testTables);
    const { store } = opened;
    let count: Promise<number> | null = null;
    await store.tx(async (tx) => {
      await tx.teams.insert({ name: "a" });
      await expect(store.teams.count()).rejects.toThrow(/use only the store/);
      await expect(store.teams.insert({ name: "b" })).rejects.toThrow(/use only the store/);
      await expect(store.tx(async () => {})).rejects.toThrow(/use only the store/);
    });
    let leaked: Pick<typeof store, "teams"> | null = null;
    const open = store.tx(async (tx) => {
      leaked = tx;
      await new Promise(setImmediate);
      await tx.teams.insert({ name: "b" });
      await new Promise(setImmediate);
    });
    count = store.teams.count();
    await open;
    expect(await count).toBe(2);
    await expect(leaked!.teams.count()).rejects.toThrow(/has ended/);
    await opened.close();
  });
});
