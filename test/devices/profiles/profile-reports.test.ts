// Profiles that agents report from Macs.
import { beforeEach, describe, expect, it } from "vitest";
import { reconcile } from "../../../src/server/devices/profiles/reconcile.ts";
import { hours, isoAt } from "../../../src/server/platform/core/clock.ts";
import { enroll, enrollment, makeSecret, type Send, throughApp } from "../../edge/agent/agents.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { bothEngines } from "../../support/engines.ts";
import { answerAll, base64, mobileconfig, openCommands } from "../../support/profiles.ts";

describe.each(bothEngines)("profiles reported by agents on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  let key: string;
  let hostId: number;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    await turnOnAppleMdm(t);
    send = throughApp(t);
    await makeSecret(t);
    const made = enrollment({ host_identifier: "mac-1" });
    const os_version = { ...made.host_details.os_version, platform: "darwin", name: "macOS" };
    key = await enroll(send, { host_identifier: "mac-1", host_details: { ...made.host_details, os_version } });
    hostId = (await t.store.hosts.list())[0]!.id;
    await t.store.hostMdm.insert({ id: hostId, enrollment_status: "On (manual)", connected_to_svc: true });
    const configuration_profiles = ["wifi", "vpn"].map((name) => ({ profile: base64(mobileconfig(name)) }));
    expect((await t.post("/mdm/profiles/batch", { configuration_profiles })).status).toBe(204);
    await reconcile(t.services, {});
    await answerAll(t);
  });

  const report = (system: readonly object[], user: readonly object[] = []) =>
    send("/api/v1/qengine/distributed/write", {
      node_key: key,
      queries: { svc_detail_query_macos_profiles: system, svc_detail_query_macos_user_profiles: user },
      statuses: {},
      messages: {},
      stats: {},
    });
  const statuses = async () => {
    const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as {
      host: { mdm: { profiles: { name: string; status: string; detail: string }[] } };
    };
    return Object.fromEntries(host.mdm.profiles.map(({ name, status }) => [name, status]));
  };
  const installed = (identifier: string, at = t.clock.now()) => ({
    identifier,
    install_date: isoAt(at)
      .replace("T", " ")
      .replace(/\.\d+Z$/, " +0000"),
  });

  it("are verified, also those of a user, and sent again an hour after they were lost", async () => {
    expect(await statuses()).toEqual({ wifi: "verifying", vpn: "verifying" });
    await report([installed("wifi"), installed("other")], [installed("vpn")]);
    expect(await statuses()).toEqual({ wifi: "verified", vpn: "verified" });
    t.clock.advance(hours(2));
    await report([installed("wifi", t.clock.now() - hours(2))]);
    await expect
      .poll(async () => (await openCommands(t)).map(({ request_type }) => request_type))
      .toEqual(["InstallProfile"]);
    expect(await statuses()).toEqual({ wifi: "verified", vpn: "pending" });
    expect((await (await t.get("/hosts?os_settings=pending")).json()) as object).toMatchObject({
      hosts: [{ id: hostId }],
    });
  });

  it("change nothing when the query fails, or is reported again", async () => {
    await report([installed("wifi"), installed("vpn")]);
    const before = await t.store.hostProfiles.list();
    await report([installed("wifi"), installed("vpn")]);
    t.clock.advance(hours(5));
    await send("/api/v1/qengine/distributed/write", {
      node_key: key,
      queries: { svc_detail_query_macos_profiles: [] },
      statuses: { svc_detail_query_macos_profiles: 1 },
      messages: {},
      stats: {},
    });
    expect(await t.store.hostProfiles.list()).toEqual(before);
  });
});
