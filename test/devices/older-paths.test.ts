// Requests that older clients send, with other methods and paths than today's.
import { beforeAll, describe, expect, it } from "vitest";
import { everything } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { appleCommand, makeManagedMac, mobileconfig, profileForm } from "../support/profiles.ts";

describe("older requests", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ shared: true });
    return () => t.close();
  });

  it("create the request for a push certificate by POST", async () => {
    const reply = await t.post("/mdm/vendora/request_csr");
    expect(reply.status).toBe(200);
    const { csr } = (await reply.json()) as { csr: string };
    expect(Buffer.from(csr, "base64").toString()).toContain("BEGIN CERTIFICATE REQUEST");
  });

  it("get the same public key for the business portal, and no private one", async () => {
    const older = await (await t.post("/mdm/vendora/dep/key_pair")).json();
    expect(older).toEqual(await (await t.get("/mdm/vendora/abm_public_key")).json());
    expect(Object.keys(older as object)).toEqual(["public_key"]);
  });

  it("send commands and read profiles under the oldest paths", async () => {
    const app = await startApp();
    await turnOnAppleMdm(app);
    const mac = await makeManagedMac(app);
    const body = { command: appleCommand("ProfileList"), device_ids: [mac.uuid] };
    const enqueued = await app.post("/mdm/vendora/enqueue", body);
    expect(enqueued.status, await enqueued.clone().text()).toBe(200);
    const { command_uuid } = (await enqueued.json()) as { command_uuid: string };
    const listed = (await (await app.get("/mdm/vendora/commands")).json()) as { results: { command_uuid: string }[] };
    expect(listed.results.map((one) => one.command_uuid)).toContain(command_uuid);
    expect((await app.get(`/mdm/vendora/commandresults?command_uuid=${command_uuid}`)).status).toBe(200);

    const created = await app.request("POST", "/mdm/vendora/profiles", profileForm(mobileconfig(), {}));
    expect(created.status, await created.clone().text()).toBe(200);
    const { profile_uuid } = (await created.json()) as { profile_uuid: string };
    expect(await (await app.get("/mdm/vendora/profiles")).text()).toContain(profile_uuid);
    expect(await (await app.get(`/mdm/vendora/profiles/${profile_uuid}`)).text()).toContain(profile_uuid);
    expect((await app.get("/mdm/vendora/profiles/summary")).status).toBe(200);
    expect((await app.delete(`/mdm/vendora/profiles/${profile_uuid}`)).status).toBe(200);
  });

  it("preassign profiles, without any effect", async () => {
    const profile = { external_host_identifier: "1", host_uuid: "A", profile: "", group: "", exclude: false };
    for (const [path, body] of [
      ["preassign", profile],
      ["match", { external_host_identifier: "1" }],
    ] as const) {
      const reply = await t.post(`/mdm/vendora/profiles/${path}`, body);
      expect([reply.status, await reply.text()]).toEqual([204, ""]);
    }
    expect(await t.store.configurationProfiles.count(everything)).toBe(0);
    expect(await t.store.teams.count(everything)).toBe(0);
  });
});
