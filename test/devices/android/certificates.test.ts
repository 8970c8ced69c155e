// Certificate templates of Android hosts: the policy lists them for the agent, the agent asks for each, and reports.

import { beforeEach, describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { days, hours } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { makeSecret } from "../../edge/agent/agents.ts";
import {
  type AndroidDeviceData,
  type AndroidService,
  ENTERPRISE,
  enrollAndroid,
  sendAndroidPolicies,
  startAndroid,
  turnAndroidOn,
} from "../../support/android.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { ManagedAgent } from "../../support/managed.ts";

const SECRET = "secret-of-no-team";
const AGENT = "com.example.agent";
const POLICY = `${ENTERPRISE}/policies/d1`;

interface App {
  readonly packageName: string;
  readonly managedConfiguration: {
    readonly server_url: string;
    readonly host_uuid: string;
    readonly enroll_secret: string;
    readonly certificate_templates: readonly { id: number; updated_at: string }[];
  };
}

describe.each(bothEngines)("certificates of Android hosts on %s", (engine) => {
  let service: AndroidService;
  let t: TestApp;
  let device: AndroidDeviceData;
  let authority: number;

  async function start(settings: Record<string, string> = { android_agent_package: AGENT }): Promise<void> {
    service = await startAndroid();
    t = await startApp({ engine, settings: { ...service.settings, ...settings } });
    service.now = () => new Date(t.clock.now());
    await makeSecret(t, SECRET);
    await turnAndroidOn(t, service);
    const scep = { name: "SCEP", url: "https://scep.example.com/scep", challenge: "static" };
    const made = await t.post("/certificate_authorities?skip_check=true", { custom_scep_proxy: scep });
    authority = ((await made.json()) as { id: number }).id;
    device = await enrollAndroid(t, service, { id: "d1", secret: SECRET });
  }
  beforeEach(() => start());

  /** Everything that follows a change was sent. */
  async function settled(): Promise<void> {
    await sendAndroidPolicies(t);
  }
  const appIn = (): App | undefined =>
    ((service.policies.get(POLICY)?.content.applications ?? []) as App[]).find((one) => one.packageName === AGENT);
  const idsSent = () => appIn()!.managedConfiguration.certificate_templates.map(({ id }) => id);
  const template = async (name: string, more: object = {}): Promise<number> => {
    const body = { name, certificate_authority_id: authority, subject_name: "/CN=$SVC_VAR_HOST_UUID", ...more };
    const reply = await t.post("/certificates", body);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { id: number }).id;
  };
  const hostNow = async () => (await t.store.hosts.list())[0]!;
  const statusOf = async (id: number) => {
    const reply = await t.get(`/certificates/${id}?host_id=${(await hostNow()).id}`);
    return ((await reply.json()) as { certificate: { status: string } }).certificate.status;
  };

  it("reach the agent with the policy, which asks for them and reports the result", async () => {
    const id = await template("Wi-Fi");
    // The certificate is pending until the policy is sent, which begins at once.
    expect(["pending", "delivering"]).toContain(await statusOf(id));
    await settled();
    expect(await statusOf(id)).toBe("delivering");
    const { managedConfiguration, ...app } = appIn()!;
    expect(app).toEqual({ packageName: AGENT, installType: "FORCE_INSTALLED", delegatedScopes: ["CERT_INSTALL"] });
    const host = await hostNow();
    expect(managedConfiguration).toEqual({
      server_url: "https://svc.example.com",
      host_uuid: host.uuid,
      enroll_secret: SECRET,
      certificate_templates: [{ id, updated_at: t.clock.iso() }],
    });
    // The agent enrolls as the device's own host.
    const agent = await new ManagedAgent(t, {
      hardware_uuid: managedConfiguration.host_uuid,
      platform: "android",
    }).enroll(managedConfiguration.enroll_secret);
    expect(await t.store.hosts.count()).toBe(1);
    const call = (method: string, path: string, body?: unknown) =>
      t.as(null).request(method, `/api/svcd/certificates/${path}`, body, { authorization: `Node key ${agent.key}` });
    const read = (await (await call("GET", `${id}`)).json()) as { certificate: Record<string, string> };
    expect(read.certificate).toMatchObject({ status: "delivered", subject_name: `/CN=${host.uuid}` });
    expect(read.certificate.svc_challenge).toMatch(/^[\w-]{43}$/);
    expect(await statusOf(id)).toBe("delivered");
    expect((await call("PUT", `${id}/status`, { status: "failed", detail: "no key" })).status).toBe(200);
    expect((await call("PUT", `${id}/status`, { status: "verified" })).status).toBe(200);
    expect(await t.store.hostCertificates.list()).toMatchObject([{ status: "verified", detail: null }]);
    // Another one is added, and the first one is removed from the host.
    const second = await template("VPN");
    await settled();
    expect(idsSent()).toEqual([id, second]);
    expect([await statusOf(id), await statusOf(second)]).toEqual(["verified", "delivering"]);
    expect((await t.delete(`/certificates/${id}`)).status).toBe(200);
    await settled();
    expect(idsSent()).toEqual([second]);
  });

  it("are replaced 30 days before they end, and again when that has failed", async () => {
    const [id, other] = [await template("Wi-Fi"), await template("VPN")];
    await settled();
    const { host_uuid, enroll_secret } = appIn()!.managedConfiguration;
    const agent = await new ManagedAgent(t, { hardware_uuid: host_uuid, platform: "android" }).enroll(enroll_secret);
    const call = (method: string, path: string, body?: unknown) =>
      t.as(null).request(method, `/api/svcd/certificates/${path}`, body, { authorization: `Node key ${agent.key}` });
    const created = t.clock.iso();
    const statusNow = async (template_id: number) =>
      (await t.store.hostCertificates.first({ where: eq("template_id", template_id) }))!.status;
    const challengeOf = async () =>
      ((await (await call("GET", `${id}`)).json()) as { certificate: { svc_challenge: string | null } }).certificate
        .svc_challenge;
    const installed = async (serial: string, lasts: number) => {
      expect(await challengeOf()).toMatch(/^[\w-]{43}$/);
      const [from, to] = [t.clock.now(), t.clock.now() + lasts].map((time) => new Date(time).toISOString());
      const report = { status: "verified", serial, not_valid_before: from, not_valid_after: to };
      expect((await call("PUT", `${id}/status`, report)).status).toBe(200);
      expect((await call("PUT", `${id}/status`, report)).status, "repeated").toBe(200);
      expect(await challengeOf(), "nothing to install").toBeNull();
    };
    const timesSent = () => appIn()!.managedConfiguration.certificate_templates.map(({ updated_at }) => updated_at);
    const jobAfter = async (time: number) => {
      t.clock.advance(time);
      await runJob(t.services, "android_agents");
      await settled();
    };
    await installed("01", days(365));
    expect((await call("PUT", `${other}/status`, { status: "verified" })).status, "its end is not known").toBe(200);
    await jobAfter(days(334));
    expect([await statusNow(id), timesSent()]).toEqual(["verified", [created, created]]);
    await jobAfter(days(1));
    expect([await statusNow(id), await statusNow(other)]).toEqual(["delivering", "verified"]);
    const renewal = t.clock.iso();
    expect(timesSent()).toEqual([renewal, created]);

    expect((await call("PUT", `${id}/status`, { status: "failed", detail: "no network" })).status).toBe(200);
    await jobAfter(hours(23));
    expect(await statusNow(id)).toBe("failed");
    await jobAfter(hours(1));
    expect([await statusNow(id), timesSent()]).toEqual(["delivering", [t.clock.iso(), created]]);
    await installed("02", days(2));
    await jobAfter(hours(25));
    expect(await statusNow(id), "after half of a short life").toBe("delivering");
    expect(await t.store.hostCertificates.first({ where: eq("template_id", id) })).toMatchObject({ serial: "02" });
  });

  it("refuse reports with wrong times, with the field", async () => {
    const id = await template("Wi-Fi");
    await settled();
    const { host_uuid, enroll_secret } = appIn()!.managedConfiguration;
    const agent = await new ManagedAgent(t, { hardware_uuid: host_uuid, platform: "android" }).enroll(enroll_secret);
    const path = `/api/svcd/certificates/${id}/status`;
    for (const [field, value] of [
      ["not_valid_after", "tomorrow"],
      ["not_valid_before", 5],
      ["serial", "0".repeat(129)],
    ] as const) {
      const headers = { authorization: `Node key ${agent.key}` };
      const reply = await t.as(null).request("PUT", path, { status: "verified", [field]: value }, headers);
      expect([reply.status, await reply.text()]).toEqual([422, expect.stringContaining(field)]);
    }
    const report = {
      status: "verified",
      not_valid_before: "2026-03-02T00:00:00Z",
      not_valid_after: "2026-03-01T00:00:00Z",
    };
    const reply = await t.as(null).request("PUT", path, report, { authorization: `Node key ${agent.key}` });
    expect(reply.status, "never valid: not replaced").toBe(200);
    expect(await t.store.hostCertificates.list()).toMatchObject([{ status: "verified", renew_at: null }]);
  });

  it("are sent again when they change, when the host changes teams, and when the agent did not ask", async () => {
    const id = await template("Wi-Fi");
    await settled();
    const version = () => service.policies.get(POLICY)!.version;
    const sent = version();
    await settled();
    expect(version(), "nothing has changed").toBe(sent);
    t.clock.advance(hours(13));
    await runJob(t.services, "android_agents");
    // The server may have sent it already.
    expect(["pending", "delivering"]).toContain(await statusOf(id));
    await settled();
    expect([await statusOf(id), version()]).toEqual(["delivering", sent + 1]);

    const specs = [{ name: "Wi-Fi", certificate_authority_id: authority, subject_name: "/CN=other" }];
    expect((await t.post("/spec/certificates", { specs })).status).toBe(200);
    await settled();
    expect(appIn()!.managedConfiguration.certificate_templates).toEqual([{ id, updated_at: t.clock.iso() }]);
    expect(version()).toBe(sent + 2);

    const team = await makeTeam(t, "Phones");
    const own = await template("Phones", { team_id: team.id });
    const { id: hostId } = await hostNow();
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [hostId] })).status).toBe(200);
    await settled();
    expect(idsSent()).toEqual([own]);
    expect(appIn()!.managedConfiguration.enroll_secret, "the team has none").toBe("");
  });

  it("leave what profiles say of other apps, and are no part of them", async () => {
    const form = new FormData();
    const other = { packageName: "com.example.other", installType: "AVAILABLE" };
    const taken = { packageName: AGENT, installType: "BLOCKED" };
    form.append("profile", new Blob([JSON.stringify({ applications: [other, taken] })]), "apps.json");
    expect((await t.post("/configuration_profiles", form)).status).toBe(200);
    await expect.poll(() => t.store.androidHostProfiles.count()).toBe(1);
    await settled();
    const apps = service.policies.get(POLICY)!.content.applications as App[];
    expect(apps.map(({ packageName }) => packageName)).toEqual(["com.example.other", AGENT]);
    expect(appIn()!.managedConfiguration.host_uuid).toBe((await hostNow()).uuid);
    t.clock.advance(1000);
    const report = await service.send(t, "STATUS_REPORT", {
      ...device,
      lastStatusReportTime: t.clock.iso(),
      appliedPolicyName: POLICY,
      appliedPolicyVersion: String(service.policies.get(POLICY)!.version),
      nonComplianceDetails: [
        { settingName: "applications", nonComplianceReason: "APP_NOT_INSTALLED", packageName: AGENT },
      ],
    });
    expect(report.status).toBe(200);
    expect(await t.store.hostProfiles.list()).toMatchObject([{ status: "verified" }]);
  });

  it("are not sent without an agent", async () => {
    await start({});
    const id = await template("Wi-Fi");
    await settled();
    expect(service.policies.get(POLICY)?.content.applications).toBeUndefined();
    expect(await statusOf(id)).toBe("pending");
  });
});
