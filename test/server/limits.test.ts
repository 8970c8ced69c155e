import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { servedPaths } from "../../src/api/paths.ts";
import { textFields } from "../../src/server/delivery/managed-agent/field-limits.ts";
import { appleFact, appleTexts, appleUsers } from "../../src/server/devices/apple/channel/limits.ts";
import { limits } from "../../src/server/limits.ts";
import { limitsPage } from "../../src/server/limits-page.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp } from "../support/app.ts";
import { appleDevice, newIdentity } from "../support/apple-device.ts";
import { rulesEngines } from "../support/engines.ts";
import { agentCall, makeManaged } from "../support/managed.ts";

describe("docs/limits.md", () => {
  it("is current: npm run docs:limits", () => {
    expect(readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8")).toBe(limitsPage());
  });

  it("has each limit once, with what happens beyond it", () => {
    const all = Object.values(limits).flat();
    expect(new Set(all.map(({ what }) => what)).size).toBe(all.length);
    for (const { max, beyond } of all) expect([max > 0, beyond.endsWith(".")]).toEqual([true, true]);
  });
});

describe.each(rulesEngines)("an Apple device on %s", (engine) => {
  /** The message with a member of this size, and where it is sent. */
  const membersOf = {
    Topic: "TokenUpdate",
    PushMagic: "TokenUpdate",
    Token: "TokenUpdate",
    UnlockToken: "TokenUpdate",
    UserID: "TokenUpdate",
    BootstrapToken: "SetBootstrapToken",
    EnrollmentID: "Authenticate",
    UDID: "Authenticate",
  } satisfies Record<keyof typeof appleTexts, string>;

  it.each(Object.entries(membersOf))("sets %s up to its limit", async (key, type) => {
    const t = await startApp({ engine });
    const device = appleDevice(t, await newIdentity(t));
    expect((await device.authenticate()).status).toBe(200);
    expect((await device.tokenUpdate()).status).toBe(200);
    const { max, unit } = appleTexts[key as keyof typeof appleTexts];
    const before = await t.store.appleEnrollments.list({ where: eq("is_user", false) });
    const send = (size: number) =>
      device.checkIn(type, {
        Topic: "com.apple.mgmt.test",
        Token: Buffer.from("token"),
        PushMagic: "magic",
        [key]: unit === "bytes" ? Buffer.alloc(size, 1) : "x".repeat(size),
      });
    expect((await send(max + 1)).status).toBe(400);
    expect(await t.store.appleEnrollments.list({ where: eq("is_user", false) })).toEqual(before);
    // Names of other devices are refused, whatever their size is.
    expect((await send(max)).status).toBe(type === "Authenticate" ? 403 : 200);
  });

  it("has a limited number of users, and limited texts about itself", async () => {
    const t = await startApp({ engine });
    const long = "x".repeat(100_000);
    const device = appleDevice(t, await newIdentity(t), { DeviceName: long, OSVersion: long, Model: long });
    expect((await device.authenticate()).status).toBe(200);
    expect((await device.tokenUpdate()).status).toBe(200);
    const [host] = await t.store.hosts.list({});
    expect([host!.computer_name, host!.hardware_model].map(({ length }) => length <= appleFact.max)).toEqual([
      true,
      true,
    ]);
    const user = (i: number) => device.tokenUpdate({ UserID: `user-${i}` });
    for (let i = 0; i < appleUsers.max; i++) expect((await user(i)).status).toBe(200);
    expect((await user(appleUsers.max)).status).toBe(400);
    expect((await user(0)).status).toBe(200);
    expect(await t.store.appleEnrollments.count(eq("is_user", true))).toBe(appleUsers.max);
  });
});

describe("what agents and devices send as JSON", () => {
  it("has a size for every text", () => {
    expect(textFields.length).toBeGreaterThan(30);
    for (const { endpoint, name, max } of textFields)
      expect([endpoint.path, name, max === null]).toEqual([endpoint.path, name, false]);
  });

  it("is refused beyond it, or the text is ignored", async () => {
    const t = await startApp();
    const agent = await makeManaged(t);
    expect((await agent.call("/device_token", { device_auth_token: "a-device-token" })).status).toBe(200);
    for (const { endpoint, name, max, isIgnored } of textFields) {
      const path = servedPaths(endpoint)[0]!.replace(":token", "a-device-token").replace(":id", "1");
      const isOfAgent = endpoint.path.startsWith("/agent/");
      const text = { [name.split(".").at(-1)!]: "x".repeat(max! + 1) };
      const body = {
        ...(isOfAgent ? { orbit_node_key: agent.key } : {}),
        ...(name.includes(".") ? { [name.split(".")[0]!]: text } : text),
      };
      const headers = { "content-type": "application/json", authorization: `Node key ${agent.key}` };
      const reply = await t.raw(path, { method: endpoint.method, headers, body: JSON.stringify(body) });
      const { errors = [] } = JSON.parse((await reply.text()) || "{}") as { errors?: { name: string }[] };
      const isRefused = reply.status === (endpoint.strict ? 400 : 422) && errors.some((error) => error.name === name);
      expect([path, name, isRefused]).toEqual([path, name, !isIgnored]);
    }
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("keeps the end of a long output", async () => {
    const t = await startApp();
    const agent = await makeManaged(t);
    const body = { orbit_node_key: agent.key, execution_id: "unknown", exit_code: 0, output: "x".repeat(4_000_000) };
    expect((await agentCall(t, "/scripts/result", body)).status).toBe(404);
  });
});
