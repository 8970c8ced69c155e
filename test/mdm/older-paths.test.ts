// Requests that older clients send, with other methods and paths than today's.
import { beforeAll, describe, expect, it } from "vitest";
import { everything } from "../../src/server/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";

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
