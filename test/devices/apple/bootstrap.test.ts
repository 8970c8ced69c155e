// Bootstrap packages and the license agreement.
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { BootstrapPackage } from "../../../src/api/devices/bootstrap.ts";
import type { Eula } from "../../../src/api/devices/eula.ts";
import type { Host } from "../../../src/api/hosts/host.ts";
import { removeUnusedFiles } from "../../../src/server/platform/files/service.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { appleDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { entry, eulaForm, packageForm, signature, xar } from "../../support/xar.ts";

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const reasonOf = async (response: Response): Promise<[number, string]> => {
  const { errors } = (await response.json()) as { errors: { reason: string }[] };
  return [response.status, errors[0]!.reason];
};
const upload = (t: TestApp, content = xar(), fields = {}) => t.post("/bootstrap", packageForm(content, fields));
const metadata = async (t: TestApp, teamId = 0) =>
  (await (await t.get(`/bootstrap/${teamId}/metadata`)).json()) as BootstrapPackage;
const lastActivity = async (t: TestApp) => {
  const reply = await t.get("/activities?order_key=id&order_direction=desc&per_page=1");
  return ((await reply.json()) as { activities: { type: string; details: object }[] }).activities[0]!;
};
async function startManaging(engine: "lowdb" | "postgres"): Promise<TestApp> {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  await t.patch("/config", { server_settings: { server_url: "https://svc.example.com" } });
  return t;
}
async function enroll(t: TestApp, facts: Record<string, string>, index = 0, more = {}, teamId: number | null = null) {
  const device = appleDevice(t, await newIdentity(t, teamId, index, facts), more);
  await device.authenticate();
  await device.tokenUpdate({ AwaitingConfiguration: true });
  return device;
}
const statusOf = async (t: TestApp, udid: string) => {
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", udid) });
  const { host } = (await (await t.get(`/hosts/${row!.host_id}`)).json()) as { host: Host };
  return host.mdm.macos_setup;
};
const automatic = { kind: "automatic" };

describe.each(bothEngines)("bootstrap packages on %s", (engine) => {
  it("are uploaded, described, downloaded by their token, and deleted, one for each team", async () => {
    const t = await startManaging(engine);
    const team = await makeTeam(t);
    const content = xar();
    expect((await upload(t, content)).status).toBe(200);
    expect(await lastActivity(t)).toMatchObject({
      type: "added_bootstrap_package",
      details: { bootstrap_package_name: "setup.pkg", team_id: null, team_name: null },
    });
    expect((await upload(t, content, { team_id: String(team.id), manual_agent_install: "true" })).status).toBe(200);
    const { team: changed } = (await (await t.get(`/teams/${team.id}`)).json()) as { team: { mdm: object } };
    expect(changed.mdm).toMatchObject({ macos_setup: { manual_agent_install: true } });
    expect((await upload(t)).status).toBe(409);
    const [own, other] = [await metadata(t), await metadata(t, team.id)];
    expect(own).toMatchObject({ name: "setup.pkg", team_id: 0, sha256: sha256(content) });
    expect(other.token).not.toBe(own.token);

    const download = (path: string, init: RequestInit = {}) => t.raw(`/api/latest/svc${path}?token=${own.token}`, init);
    const whole = await download("/bootstrap");
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(content);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": String(content.length),
      "content-disposition": expect.stringContaining("setup.pkg"),
    });
    const part = await download("/mdm/vendora/bootstrap", { headers: { range: "bytes=4-7" } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, content.subarray(4, 8)]);
    const head = await download("/mdm/bootstrap", { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(content.length)]);
    expect((await t.raw("/api/latest/svc/bootstrap?token=wrong")).status).toBe(404);

    expect((await t.delete("/bootstrap/0")).status).toBe(200);
    expect(await lastActivity(t)).toMatchObject({ type: "deleted_bootstrap_package" });
    expect([(await download("/bootstrap")).status, (await t.delete("/bootstrap/0")).status]).toEqual([404, 404]);
    t.clock.advance(48 * 3_600_000);
    expect(await removeUnusedFiles(t.services, new AbortController().signal), "the team has it still").toBe(0);
    expect((await t.delete(`/teams/${team.id}`)).status).toBe(200);
    expect(await removeUnusedFiles(t.services, new AbortController().signal)).toBe(1);
  });

  it("go once to Macs that enroll automatically, before they leave the setup assistant", async () => {
    const t = await startManaging(engine);
    const content = xar();
    await upload(t, content);
    const { token } = await metadata(t);
    const mac = await enroll(t, automatic);
    expect(await statusOf(t, mac.udid)).toMatchObject({
      bootstrap_package_status: "pending",
      bootstrap_package_name: "setup.pkg",
    });
    const command = (await mac.idle())!;
    const { metadata: described, assets } = (command.command.Manifest as { items: Record<string, unknown>[] })
      .items[0]!;
    expect(command.type).toBe("InstallEnterpriseApplication");
    expect(assets).toEqual([
      {
        kind: "software-package",
        "sha256-size": content.length,
        sha256s: [sha256(content)],
        url: `https://svc.example.com/api/latest/svc/bootstrap?token=${token}`,
      },
    ]);
    expect(described).toMatchObject({ kind: "software", title: "setup.pkg" });
    expect(await mac.answer(command.uuid, "Acknowledged")).toMatchObject({ type: "DeviceConfigured" });
    expect(await statusOf(t, mac.udid)).toMatchObject({ bootstrap_package_status: "installed" });

    const failing = await enroll(t, automatic, 1);
    const { uuid } = (await failing.idle())!;
    const ErrorChain = [{ ErrorCode: 1, ErrorDomain: "D", USEnglishDescription: "the package is not trusted" }];
    expect(await failing.answer(uuid, "Error", { ErrorChain })).toMatchObject({ type: "DeviceConfigured" });
    expect(await statusOf(t, failing.udid)).toMatchObject({
      bootstrap_package_status: "failed",
      detail: "the package is not trusted",
    });
    const waiting = await enroll(t, automatic, 2);
    expect(await waiting.idle()).toMatchObject({ type: "InstallEnterpriseApplication" });
    for (const device of [
      await enroll(t, { kind: "manual" }, 3),
      await enroll(t, automatic, 4, { ProductName: "iPad14,1" }),
    ])
      expect(await device.idle()).toMatchObject({ type: "DeviceConfigured" });

    const summary = async (teamId = 0) => (await t.get(`/bootstrap/summary?team_id=${teamId}`)).json();
    expect(await summary()).toEqual({ installed: 1, failed: 1, pending: 1 });
    const team = await makeTeam(t);
    expect(await summary(team.id)).toEqual({ installed: 0, failed: 0, pending: 0 });
    const { hosts } = (await (await t.get("/hosts?bootstrap_package=failed")).json()) as { hosts: Host[] };
    expect(hosts.map((host) => host.uuid)).toEqual([failing.udid]);
    await waiting.checkIn("CheckOut");
    expect(await summary(), "it has left").toEqual({ installed: 1, failed: 1, pending: 0 });
  });

  it("do not keep a Mac from enrolling while the server has no address", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    await upload(t);
    expect((await t.patch("/config", { server_settings: { server_url: "" } })).status).toBe(200);
    const mac = await enroll(t, automatic);
    expect(await mac.idle()).toMatchObject({ type: "DeviceConfigured" });
    expect(await statusOf(t, mac.udid)).toMatchObject({ bootstrap_package_status: "failed" });
  });

  it("are accepted once of several at the same time", async () => {
    const t = await startManaging(engine);
    const replies = await Promise.all([1, 2, 3].map(() => upload(t)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe.each(rulesEngines)("a bootstrap package on %s", (engine) => {
  it.each<[string, Buffer, string]>([
    ["another file", Buffer.from("PK\u0003\u0004 a zip file, longer than a header"), "it is not a xar archive"],
    ["an empty file", Buffer.alloc(0), "it is not a xar archive"],
    ["a header alone", xar().subarray(0, 28), "is damaged: its table of contents is incomplete"],
    ["another magic", xar({ magic: "xar?" }), "it is not a xar archive"],
    ["an unsigned package", xar({ toc: entry("Distribution") }), "is not signed"],
    ["a signature without a certificate", xar({ toc: `<signature/>${entry("Distribution")}` }), "is not signed"],
    ["a component package", xar({ toc: signature + entry("PackageInfo") }), "is a component package"],
    [
      "a nested Distribution",
      xar({ toc: signature + entry("a.pkg", entry("Distribution")) }),
      "is a component package",
    ],
    ["contents that are no zlib stream", xar({ contents: Buffer.alloc(99, 7) }), "cannot be read"],
    ["contents that are no XML", xar({ contents: deflateSync("<xar>") }), "cannot be read"],
    ["contents with a DOCTYPE", xar({ contents: deflateSync("<!DOCTYPE xar><xar/>") }), "cannot be read"],
    ["contents that are larger than they say", xar({ contents: deflateSync(Buffer.alloc(1e6)) }), "cannot be read"],
    ["contents beyond the end", xar({ packed: 9_999 }), "is incomplete"],
    ["contents that are too large", xar({ unpacked: 2 ** 40 }), "is larger than"],
  ])("is refused with the reason: %s", async (_name, content, reason) => {
    const t = await startManaging(engine);
    const [status, text] = await reasonOf(await upload(t, content));
    expect([status, text]).toEqual([400, expect.stringContaining(reason)]);
    expect(await t.store.files.count(), "the file is not kept").toBe(0);
  });

  it("needs device management to be on, the premium tier, and for a change more rights than for reading", async () => {
    const t = await startApp({ engine });
    expect(await reasonOf(await upload(t))).toEqual([400, "device management is not turned on"]);
    await turnOnAppleMdm(t);
    await upload(t);
    expect((await t.get("/bootstrap/0/metadata?for_update=true")).status).toBe(200);
    expect((await t.as(null).get("/bootstrap/0/metadata")).status).toBe(401);
    const free = await startApp({ engine, tier: "free" });
    expect((await upload(free)).status).toBe(402);
  });

  it("is checked by a dry run, which keeps nothing", async () => {
    const t = await startManaging(engine);
    const dry = await t.request("POST", "/bootstrap", packageForm(xar()), { "Dry-Run": "true" });
    expect(dry.status).toBe(200);
    expect([await t.store.bootstrapPackages.count(), await t.store.files.count()]).toEqual([0, 0]);
  });
});

describe.each(bothEngines)("the license agreement on %s", (engine) => {
  it("is a PDF file, of which there is one", async () => {
    const t = await startManaging(engine);
    expect((await t.get("/setup_experience/eula/metadata")).status).toBe(404);
    const add = (content: string, query = "") => t.post(`/setup_experience/eula${query}`, eulaForm(content));
    expect(await reasonOf(await add(""))).toEqual([400, "the file is empty"]);
    expect(await reasonOf(await add("<html>"))).toEqual([400, "the file is not a PDF file"]);
    expect(await reasonOf(await add(`${" ".repeat(1020)}%PDF-1.7`))).toEqual([400, "the file is not a PDF file"]);
    const content = `${" ".repeat(1019)}%PDF-1.7 terms`;
    expect((await add(content, "?dry_run=true")).status).toBe(200);
    expect(await t.store.eulas.count()).toBe(0);
    expect((await add(content)).status).toBe(200);
    expect(await lastActivity(t)).toMatchObject({ type: "added_eula", details: { name: "agreement.pdf" } });
    expect((await add(content)).status).toBe(409);

    const { token, ...rest } = (await (await t.get("/mdm/vendora/setup/eula/metadata")).json()) as Eula;
    expect(rest).toEqual({ name: "agreement.pdf", created_at: t.clock.iso(), sha256: sha256(Buffer.from(content)) });
    const open = await t.raw(`/api/latest/svc/setup_experience/eula/${token}`);
    expect([open.headers.get("content-type"), await open.text()]).toEqual(["application/pdf", content]);
    expect((await t.raw("/api/latest/svc/setup_experience/eula/wrong")).status).toBe(404);
    expect((await t.delete(`/setup_experience/eula/${token}?dry_run=true`)).status).toBe(200);
    expect((await t.delete(`/setup_experience/eula/${token}`)).status).toBe(200);
    expect(await lastActivity(t)).toMatchObject({ type: "deleted_eula" });
    expect((await t.delete(`/setup_experience/eula/${token}`)).status).toBe(404);
  });
});
