import { describe, expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";
import { makeHost, makeOperation } from "../support/make.ts";

describe("operations", () => {
  it("are listed, shown and cancelled", async () => {
    const fleet = await startFleet();
    const host = await makeHost(fleet.app, { hostname: "mac-9", display_name: "mac-9" });
    const first = await makeOperation(fleet.app, host.id, { kind: "lock" });
    const second = await makeOperation(fleet.app, host.id, { kind: "unlock" });
    const begun = await makeOperation(fleet.app, host.id, { kind: "wipe", state: "sent", attempts: 1 });
    const run = (...argv: string[]) => fleet.run(["operations", ...argv]);

    const listed = await run("list", "--kind", "lock,wipe", "-o", "json");
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: begun.id }, { id: first.id, can_cancel: true }]);
    const shown = await run("get", String(begun.id), "-o", "json");
    expect(JSON.parse(shown.stdout)).toMatchObject({ kind: "wipe", can_cancel: false });

    expect((await run("cancel", String(first.id), "--dry-run")).stdout).toContain("lock");
    expect((await run("cancel")).exitCode).toBe(2);
    const single = await run("cancel", String(first.id), "--yes");
    expect(single, single.stderr).toMatchObject({ exitCode: 0 });
    const unconfirmed = await run("cancel", "--host-id", String(host.id), "--yes");
    expect(unconfirmed.stderr).toContain("--confirm 2");
    const rest = await run("cancel", "--host-id", String(host.id), "--confirm", "2", "-o", "json");
    expect(rest.exitCode).toBe(1);
    expect(rest.stderr).toContain("the wipe has started on the host");
    expect(JSON.parse(rest.stdout)).toMatchObject({ cancelled: [second.id], not_cancelled: [{ id: begun.id }] });
    expect((await run("cancel", "--kind", "lock")).exitCode).toBe(0);
  });
});
