// The console: it shows only what the API would return to the same user, and does what the API would do for them.
import { describe, expect, it } from "vitest";
import { tokenHash } from "../../../src/server/platform/core/random.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeHost, makeInventory, makePolicy, makeResults, makeSoftware } from "../../support/make.ts";
import { WebVisitor } from "../../support/web.ts";

async function visit(t: TestApp, email = ADMIN.email, password = ADMIN.password): Promise<WebVisitor> {
  const visitor = new WebVisitor(t);
  await visitor.signIn(email, password);
  return visitor;
}

const _member = async (t: TestApp, roles: Parameters<typeof makeUser>[1]): Promise<WebVisitor> =>
  visit(t, (await makeUser(t, roles, { api_only: false })).user.email, PASSWORD);

describe.each(rulesEngines)("the console on %s", (engine) => {
  it("shows a host to its user with the token of its page, until the token expires", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hostname: "mac" }, { seen: t.clock.iso() });
    const policy = await makePolicy(t, { name: "Disk", query: "SELECT secret_of_admins", resolution: "Turn it on" });
    await makeResults(t, host.id, { failing: [policy] });
    await makeInventory(t, host.id, [await makeSoftware(t, "Firefox", "99.1")]);
    const token = "0d1e2f30-1111-4222-8333-444455556666";
    await t.store.deviceTokens.insert({ id: host.id, token_hash: tokenHash(token), updated_at: t.clock.iso() });
    const visitor = new WebVisitor(t);
    const { status, text } = await visitor.get(`/device/${token}`);
    expect(status).toBe(200);
    for (const part of ["mac", "Turn it on", "Firefox", "failing"]) expect(text).toContain(part);
    expect(text).not.toContain("secret_of_admins");
    const asked = await visitor.post(`/device/${token}/refetch`);
    expect([asked.status, asked.location]).toEqual([303, `/device/${token}?status=asked`]);
    expect((await t.store.hosts.get(host.id))!.refetch_requested).toBe(true);
    expect((await visitor.postRaw(`/device/${token}/refetch`, {})).status).toBe(403);

    for (const wrong of ["wrong", "0d1e2f30", "%20", "a".repeat(300)]) {
      const seen = await visitor.get(`/device/${wrong}`);
      expect(seen.status, wrong).toBeGreaterThanOrEqual(400);
      expect(seen.status).toBeLessThan(500);
      expect(seen.text).not.toContain("Firefox");
    }
    t.clock.advance(3_600_001);
    expect((await visitor.get(`/device/${token}`)).status).toBe(401);
  });

  it("blocks an address that tries tokens of hosts, like the API and with the same count", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    for (let i = 0; i < 700; i++) await t.as(null).get(`/device/wrong-${i}`);
    for (let i = 0; i < 20; i++) expect((await visitor.get(`/device/wrong-${i}`)).status).toBe(401);
    const seen = await visitor.get("/device/wrong-again");
    expect(seen.status).toBe(429);
    expect(Number(seen.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
