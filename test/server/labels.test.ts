import { describe, expect, test } from "vitest";
import { builtinLabels } from "../../src/server/agent/inventory/labels.ts";
import { ensureBuiltinLabels } from "../../src/server/labels/builtin.ts";
import { eq } from "../../src/server/store/query.ts";
import { startApp } from "../support/app.ts";

describe.each(["lowdb", "postgres"] as const)("built-in labels on %s", (engine) => {
  test("are there from the start, once, and unchanged by another start", async () => {
    const t = await startApp({ engine });
    const before = await t.store.labels.list();
    expect(before.map(({ name }) => name)).toEqual(builtinLabels.map(({ name }) => name));
    t.clock.advance(1000);
    await Promise.all([ensureBuiltinLabels(t.services), ensureBuiltinLabels(t.services)]);
    expect(await t.store.labels.list()).toEqual(before);
  });

  test("a query of an older version is replaced, the label's id kept", async () => {
    const t = await startApp({ engine });
    const before = (await t.store.labels.first({ where: eq("name", "macOS") }))!;
    await t.store.labels.updateEach([{ id: before.id, query: "SELECT 2;" }]);
    await ensureBuiltinLabels(t.services);
    expect(await t.store.labels.get(before.id)).toMatchObject({ id: before.id, query: before.query });
  });
});
