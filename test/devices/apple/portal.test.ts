import { beforeEach, describe, expect, it } from "vitest";
import type { AbmToken, DepAssignment } from "../../../src/api/devices/abm.ts";
import type { Host } from "../../../src/api/hosts/host.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { hours, minutes } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeHost, makeTeam } from "../../support/make.ts";
import { makeAbmToken, type Portal, startPortal } from "../../support/portal.ts";

const formOf = (file: Buffer): FormData => {
  const form = new FormData();
  form.append("token", new Blob([new Uint8Array(file)]), "token.p7m");
  return form;
};

/** The types of the latest activities, the newest first. */
async function recorded(t: TestApp): Promise<string[]> {
  const reply = await t.get("/activities?order_key=id&order_direction=desc");
  const { activities } = (await reply.json()) as { activities: { type: string }[] };
  return activities.map(({ type }) => type);
}

describe.each(bothEngines)("the business portal on %s", (engine) => {
  let portal: Portal;
  let t: TestApp;
  beforeEach(async () => {
    portal = await startPortal();
    t = await startApp({ engine, settings: { dep_url: portal.url } });
  });

  const addToken = async (): Promise<number> => {
    const { public_key } = await read<{ public_key: string }>("/mdm/vendora/abm_public_key");
    const file = await portal.tokenFile(Buffer.from(public_key, "base64").toString());
    const reply = await t.post("/abm_tokens", formOf(file));
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { abm_token: AbmToken }).abm_token.id;
  };
  const read = async <T>(path: string): Promise<T> => (await t.get(path)).json() as Promise<T>;
  const sync = () => runJob(t.services, "dep_sync");
  const hostsNow = async () => (await read<{ hosts: Host[] }>("/hosts?per_page=500")).hosts;
  const serialsNow = async () => (await hostsNow()).map(({ hardware_serial }) => hardware_serial).sort();
  const find = async (serial: string) => (await hostsNow()).find(({ hardware_serial }) => hardware_serial === serial);
  const bySerial = async (serial: string): Promise<Host> => {
    const found = await find(serial);
    if (!found) throw new Error(`no host ${serial}`);
    return found;
  };

  it("makes new devices pending hosts in the team of their platform, and gives each its profile", async () => {
    const macs = await makeTeam(t, "Macs");
    const phones = await makeTeam(t, "Phones");
    const id = await addToken();
    const teams = { macos_team_id: macs.id, ios_team_id: phones.id };
    expect((await t.patch(`/abm_tokens/${id}/teams`, teams)).status).toBe(200);
    expect((await recorded(t)).slice(0, 2)).toEqual(["edited_abm_token_teams", "added_abm_token"]);
    portal.devices = [
      { serial_number: "MAC1", device_family: "Mac", model: "MacBook Air" },
      { serial_number: "PHONE1", device_family: "iPhone" },
      { serial_number: "PAD1", device_family: "iPad" },
      { serial_number: "TV1", device_family: "AppleTV" },
    ];
    await sync();
    expect(await bySerial("MAC1")).toMatchObject({
      platform: "darwin",
      team_id: macs.id,
      hardware_model: "MacBook Air",
      mdm: { enrollment_status: "Pending", dep_profile_error: false },
    });
    expect(await bySerial("PHONE1")).toMatchObject({ platform: "ios", team_id: phones.id });
    expect(await bySerial("PAD1")).toMatchObject({ platform: "ipados", team_id: null });
    expect(await find("TV1")).toBeUndefined();
    const [uuid] = portal.profiles.keys();
    expect([...portal.assigned]).toEqual([
      ["MAC1", uuid],
      ["PHONE1", uuid],
      ["PAD1", uuid],
    ]);
    expect(portal.profiles.get(uuid!)).toMatchObject({
      url: expect.stringContaining("/api/mdm/vendora/enroll?token="),
    });
    const calls = portal.requests.length;
    await sync();
    // Only the question what has changed.
    expect(portal.requests.slice(calls).map(({ url }) => url.pathname)).toEqual(["/devices/sync"]);
  });

  it("uses the profile of the host's own team, also after a transfer", async () => {
    await turnOnAppleMdm(t);
    const team = await makeTeam(t, "Design");
    await addToken();
    const profile = { profile_name: "Design", is_supervised: true };
    const set = await t.post("/enrollment_profiles/automatic", {
      team_id: team.id,
      name: "design.json",
      enrollment_profile: profile,
    });
    expect(set.status).toBe(200);
    portal.devices = [{ serial_number: "MAC1", device_family: "Mac" }];
    await sync();
    const host = await bySerial("MAC1");
    expect(portal.profiles.get(portal.assigned.get("MAC1")!)).toMatchObject({
      profile_name: "svc default enrollment profile",
    });
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [host.id] });
    await sync();
    expect(portal.profiles.get(portal.assigned.get("MAC1")!)).toMatchObject({ profile_name: "Design" });
  });

  it("is one host with a known machine of the same serial number, which keeps its team", async () => {
    const team = await makeTeam(t, "Old");
    const host = await makeHost(t, { hardware_serial: "MAC1", team_id: team.id, platform: "darwin" });
    await addToken();
    portal.devices = [{ serial_number: "MAC1", device_family: "Mac" }];
    await sync();
    expect(await t.store.hosts.count()).toBe(1);
    expect(await bySerial("MAC1")).toMatchObject({ id: host.id, team_id: team.id });
    const assignment = await read<DepAssignment>(`/hosts/${host.id}/dep_assignment`);
    expect(assignment).toMatchObject({ dep_device: true, host_dep_assignment: { assign_profile_response: "SUCCESS" } });
  });

  it("makes a host that was deleted pending again, as long as it lists the device", async () => {
    await addToken();
    portal.devices = [
      { serial_number: "MAC1", device_family: "Mac" },
      { serial_number: "MAC2", device_family: "Mac" },
    ];
    await sync();
    const { id } = await bySerial("MAC1");
    expect((await t.delete(`/hosts/${id}`)).status).toBe(200);
    expect(await serialsNow()).toEqual(["MAC2"]);
    await sync();
    expect(await serialsNow()).toEqual(["MAC1", "MAC2"]);
    const again = await bySerial("MAC1");
    expect(again).toMatchObject({ platform: "darwin", mdm: { enrollment_status: "Pending" } });
    expect(await t.store.portalDevices.first({ where: eq("serial", "MAC1") })).toMatchObject({ host_id: again.id });
    expect((await t.delete(`/hosts/${again.id}`)).status).toBe(200);
    portal.changes.push({ serial_number: "MAC1", device_family: "Mac", op_type: "deleted" });
    await sync();
    expect(await serialsNow()).toEqual(["MAC2"]);
    await sync();
    expect(await serialsNow()).toEqual(["MAC2"]);
  });

  it("reads many pages, follows changes, and takes the newest of several", async () => {
    await addToken();
    portal.pageSize = 2;
    portal.devices = Array.from({ length: 5 }, (_, i) => ({ serial_number: `MAC${i}`, device_family: "Mac" }));
    await sync();
    expect(await t.store.hosts.count()).toBe(5);
    portal.changes.push(
      { serial_number: "NEW", device_family: "Mac", op_type: "modified", op_date: "2026-03-01T10:00:00Z" },
      { serial_number: "MAC0", device_family: "Mac", op_type: "deleted", op_date: "2026-03-01T10:00:00Z" },
      { serial_number: "MAC1", device_family: "Mac", op_type: "added", op_date: "2026-03-01T12:00:00Z" },
      { serial_number: "MAC1", device_family: "Mac", op_type: "deleted", op_date: "2026-03-01T11:00:00Z" },
      { serial_number: "UNKNOWN", device_family: "Mac", op_type: "deleted", op_date: "2026-03-01T11:00:00Z" },
    );
    await sync();
    expect(await serialsNow()).toEqual(["MAC1", "MAC2", "MAC3", "MAC4", "NEW"]);
  });

  it("keeps a host that has enrolled when its device leaves the organization", async () => {
    await addToken();
    const host = await makeHost(t, { hardware_serial: "MAC1", platform: "darwin" });
    portal.devices = [{ serial_number: "MAC1", device_family: "Mac" }];
    await sync();
    await t.store.hosts.update({ where: eq("id", host.id), set: { detail_updated_at: t.clock.iso() } });
    portal.changes.push({
      serial_number: "MAC1",
      device_family: "Mac",
      op_type: "deleted",
      op_date: "2026-03-01T10:00:00Z",
    });
    await sync();
    expect(await bySerial("MAC1")).toMatchObject({ mdm: { enrollment_status: "Off" } });
    const { dep_device, host_dep_assignment } = await read<DepAssignment>(`/hosts/${host.id}/dep_assignment`);
    expect([dep_device, host_dep_assignment?.deleted_at]).toEqual([false, t.clock.iso()]);
  });

  it("reads all devices again when the cursor has expired, and removes those that are gone", async () => {
    await addToken();
    portal.devices = ["MAC1", "MAC2"].map((serial_number) => ({ serial_number, device_family: "Mac" }));
    await sync();
    portal.expireCursors();
    portal.devices = portal.devices.slice(1);
    t.clock.advance(minutes(1));
    await sync();
    expect(await serialsNow()).toEqual(["MAC2"]);
  });

  it("opens a new session once when the portal has ended it, and shows refused tokens and new terms", async () => {
    const id = await addToken();
    await sync();
    portal.endSessions();
    const before = portal.sessions;
    await sync();
    expect(portal.sessions).toBe(before + 1);
    const shown = async () => (await read<{ abm_tokens: AbmToken[] }>("/abm_tokens")).abm_tokens[0];
    portal.fault = (path) => (path === "/devices/sync" ? { status: 403, body: '"T_C_NOT_SIGNED"' } : null);
    const calls = portal.requests.length;
    await sync();
    expect(portal.requests.length).toBe(calls + 1);
    expect(await shown()).toMatchObject({ id, terms_expired: true, token_invalid: false });
    portal.fault = (path) => (path === "/session" ? { status: 401, body: "token_rejected" } : null);
    portal.endSessions();
    await sync();
    expect(await shown()).toMatchObject({ terms_expired: true, token_invalid: true });
    portal.fault = () => null;
    await sync();
    expect(await shown()).toMatchObject({ terms_expired: false, token_invalid: false });
  });

  it("retries a failed assignment after an hour, and a throttled one when the portal says", async () => {
    await addToken();
    portal.devices = [
      { serial_number: "BAD", device_family: "Mac" },
      { serial_number: "SLOW", device_family: "Mac" },
    ];
    portal.respond = (serial) => (serial === "BAD" ? "FAILED" : "THROTTLED");
    portal.retryAfter = 120;
    await sync();
    expect((await bySerial("BAD")).mdm.dep_profile_error).toBe(true);
    expect((await bySerial("SLOW")).mdm.dep_profile_error).toBe(false);
    portal.respond = () => "SUCCESS";
    t.clock.advance(minutes(3));
    await sync();
    expect([...portal.assigned.keys()]).toEqual(["SLOW"]);
    t.clock.advance(hours(1));
    await sync();
    expect([...portal.assigned.keys()]).toEqual(["SLOW", "BAD"]);
    expect((await bySerial("BAD")).mdm.dep_profile_error).toBe(false);
  });

  it("waits as long as the portal says that it takes no requests, and keeps what is known", async () => {
    const id = await addToken();
    portal.devices = [{ serial_number: "MAC1", device_family: "Mac" }];
    await sync();
    portal.devices.push({ serial_number: "MAC2", device_family: "Mac" });
    portal.expireCursors();
    portal.fault = () => ({ status: 429, body: "", headers: { "retry-after": "300" } });
    await sync();
    const calls = portal.requests.length;
    t.clock.advance(minutes(1));
    await sync();
    expect(portal.requests.length, "it is left alone").toBe(calls);
    expect(await serialsNow()).toEqual(["MAC1"]);
    const [token] = (await read<{ abm_tokens: AbmToken[] }>("/abm_tokens")).abm_tokens;
    expect(token).toMatchObject({ id, terms_expired: false, token_invalid: false });
    portal.fault = () => null;
    t.clock.advance(minutes(6));
    await sync();
    expect((await serialsNow()).sort()).toEqual(["MAC1", "MAC2"]);
  });

  it("continues after a crash in the middle of the pages", async () => {
    await addToken();
    portal.pageSize = 2;
    portal.devices = Array.from({ length: 5 }, (_, i) => ({ serial_number: `MAC${i}`, device_family: "Mac" }));
    let pages = 0;
    portal.fault = (path) => (path === "/server/devices" && ++pages === 2 ? { status: 500, body: "" } : null);
    await sync();
    expect(await t.store.hosts.count()).toBe(2);
    await sync();
    expect(await t.store.hosts.count()).toBe(5);
    expect(pages).toBe(4);
  });

  it("deletes the hosts that were only expected together with the token", async () => {
    const id = await addToken();
    portal.devices = [{ serial_number: "MAC1", device_family: "Mac" }];
    await sync();
    await makeHost(t, {});
    expect((await t.delete(`/abm_tokens/${id}`)).status).toBe(204);
    expect((await recorded(t)).slice(0, 2)).toEqual(["deleted_host", "deleted_abm_token"]);
    expect(await find("MAC1")).toBeUndefined();
    expect(await t.store.hosts.count()).toBe(1);
    expect(await t.store.portalDevices.count()).toBe(0);
    expect((await t.get("/mdm/vendora_bm")).status).toBe(404);
  });

  it("releases devices from the organization", async () => {
    await addToken();
    portal.devices = [{ serial_number: "MAC1", device_family: "Mac" }];
    await sync();
    const known = await bySerial("MAC1");
    const other = await makeHost(t, {});
    const reply = await t.post("/hosts/release_ab", { ids: [known.id, other.id] });
    expect(((await reply.json()) as { results: unknown }).results).toEqual([
      { host_id: known.id, status: "success", error: "" },
      { host_id: other.id, status: "failed", error: "the business portal does not know this host" },
    ]);
    expect(portal.disowned).toEqual(["MAC1"]);
    expect(await recorded(t)).toContain("released_host");
    expect((await t.post("/hosts/release_ab", { ids: [known.id, 9999] })).status).toBe(422);
  });
});

describe("tokens of the business portal", () => {
  it("are refused if they are for another key, have expired, are no tokens, or the portal refuses them", async () => {
    const portal = await startPortal();
    const t = await startApp({ settings: { dep_url: portal.url } });
    const { public_key } = (await (await t.get("/mdm/vendora/abm_public_key")).json()) as { public_key: string };
    const own = Buffer.from(public_key, "base64").toString();
    const other = await startApp();
    const key = (await (await other.get("/mdm/vendora/abm_public_key")).json()) as { public_key: string };
    const send = async (method: string, path: string, file: Buffer) => {
      const reply = await t.request(method, path, formOf(file));
      const { errors } = (await reply.json()) as { errors?: { reason: string }[] };
      return errors ? `${reply.status} ${errors[0]?.reason}` : "stored";
    };
    const reasonOf = (file: Buffer) => send("POST", "/abm_tokens", file);
    expect(await reasonOf(await portal.tokenFile(Buffer.from(key.public_key, "base64").toString()))).toMatch(
      /^422 .*another public key/,
    );
    expect(await reasonOf(await portal.tokenFile(own, { access_token_expiry: "2026-02-01T00:00:00Z" }))).toBe(
      "422 the token has expired",
    );
    expect(await reasonOf(await portal.tokenFile(own, { access_secret: "wrong" }))).toMatch(/^422 .*refuses the token/);
    expect(await reasonOf(Buffer.from("no token!"))).toMatch(/^422 the file is not a token/);
    expect(await reasonOf(Buffer.alloc(0))).toMatch(/^422 the file is not a token/);
    expect(await reasonOf(await portal.tokenFile(own, { consumer_key: "" }))).toBe("422 the token has no credentials");
    expect(await t.store.abmTokens.count()).toBe(0);
    expect(await reasonOf(await portal.tokenFile(own))).toBe("stored");
    expect(await reasonOf(await portal.tokenFile(own))).toMatch(/^409 .*renew token 1/);
    expect(await send("PATCH", "/abm_tokens/1/renew", await portal.tokenFile(own))).toBe("stored");
    expect((await recorded(t)).slice(0, 2)).toEqual(["renewed_abm_token", "added_abm_token"]);
    expect(await send("PATCH", "/abm_tokens/2/renew", await portal.tokenFile(own))).toMatch(/^404/);
  });

  it("are encrypted at rest, and appear in no reply", async () => {
    const t = await startApp();
    await makeAbmToken(t, { consumer_secret: "hidden-secret" });
    for (const path of ["/abm_tokens", "/mdm/vendora_bm", "/abm_tokens/count"])
      expect(await (await t.get(path)).text()).not.toContain("hidden-secret");
  });
});

describe("setup assistant profiles", () => {
  it("are refused with 400 while device management is off", async () => {
    const t = await startApp();
    const body = { name: "a.json", enrollment_profile: { profile_name: "x" } };
    for (const path of ["/enrollment_profiles/automatic", "/mdm/vendora/enrollment_profile"]) {
      expect((await t.post(path, body)).status).toBe(400);
      expect((await t.get(path)).status).toBe(400);
      expect((await t.delete(path)).status).toBe(400);
    }
    expect((await t.get("/enrollment_profiles/automatic/default")).status).toBe(400);
  });

  it("refuse keys that the server fills in, and values of the wrong type, by name", async () => {
    const t = await startApp();
    await turnOnAppleMdm(t);
    const enrollment_profile = {
      url: "https://x.example",
      is_supervised: "yes",
      skip_setup_items: ["TOS", 1],
      other: 1,
    };
    const reply = await t.post("/enrollment_profiles/automatic", { name: "a.json", enrollment_profile });
    expect(reply.status).toBe(422);
    const { errors } = (await reply.json()) as { errors: { name: string }[] };
    expect(errors.map(({ name }) => name)).toEqual([
      "enrollment_profile.url",
      "enrollment_profile.is_supervised",
      "enrollment_profile.skip_setup_items",
    ]);
  });

  it("are refused with the portal's reason, and stored while it cannot be reached", async () => {
    const portal = await startPortal();
    const t = await startApp({ settings: { dep_url: portal.url } });
    await turnOnAppleMdm(t);
    await makeAbmToken(t, portal.credentials);
    const set = (enrollment_profile: unknown) =>
      t.post("/enrollment_profiles/automatic", { name: "a.json", enrollment_profile });
    const refused = await set({ org_magic: "x" });
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("CONFIG_NAME_REQUIRED")]);
    portal.fault = () => ({ status: 500, body: "" });
    expect((await set({ profile_name: "x" })).status).toBe(200);
    expect((await t.get("/mdm/vendora/enrollment_profile")).status).toBe(200);
    expect((await t.delete("/enrollment_profiles/automatic")).status).toBe(204);
    expect((await t.get("/enrollment_profiles/automatic")).status).toBe(404);
    expect((await recorded(t)).slice(0, 2)).toEqual(["deleted_macos_setup_assistant", "changed_macos_setup_assistant"]);
  });
});
