// A host enrolls through this server: its agent reads the template, and sends SCEP messages to the proxy.

import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { parseName } from "../../src/pki/names.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { allowLocal, type Fake, startFake } from "../support/ca-fakes.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam } from "../support/make.ts";
import { runningOf } from "../support/running.ts";
import { enroll, openScep } from "../support/scep-requests.ts";
import { haveScepServer, startScepServer } from "../support/scep-server.ts";

const KEY = "node-key-of-the-host";
const CHALLENGE = "static";

interface Scene {
  readonly t: TestApp;
  readonly hostId: number;
  readonly templateId: number;
  /** The agent reads its template. */
  read(): Promise<{ status: string; subject_name: string; scep_challenge: string; svc_challenge: string }>;
  path(challenge: string, change?: { uuid?: string; template?: string; ca?: string }): string;
  call(path: string, body?: Uint8Array): Promise<Response>;
}

async function scene(url: string, options: StartOptions = {}): Promise<Scene> {
  const t = await startApp({ settings: allowLocal, ...options });
  const made = await t.post("/certificate_authorities?skip_check=true", {
    custom_scep_proxy: { name: "SCEP", url, challenge: CHALLENGE },
  });
  const { id } = (await made.json()) as { id: number };
  const template = { name: "Wi-Fi", certificate_authority_id: id, subject_name: "/CN=$SVC_VAR_HOST_UUID/O=Example" };
  const { id: templateId } = (await (await t.post("/certificates", template)).json()) as { id: number };
  const host = await makeHost(t, { uuid: "UUID 1", node_key_hash: tokenHash(KEY) });
  return {
    t,
    hostId: host.id,
    templateId,
    async read() {
      const path = `/api/svcd/certificates/${templateId}`;
      const response = await t.as(null).request("GET", path, undefined, { authorization: `Node key ${KEY}` });
      expect(response.status).toBe(200);
      return ((await response.json()) as { certificate: Awaited<ReturnType<Scene["read"]>> }).certificate;
    },
    path: (challenge, { uuid = "UUID 1", template: profile = `g${templateId}`, ca = "SCEP" } = {}) =>
      `/mdm/scep/proxy/${encodeURIComponent([uuid, profile, ca, challenge].join(","))}`,
    call: (path, body) =>
      t.raw(
        path,
        body === undefined ? {} : { method: "POST", body, headers: { "content-type": "application/x-pki-message" } },
      ),
  };
}

/** The app behind a socket, as a SCEP client needs it. */
const listening = (t: TestApp): Promise<Fake> =>
  startFake(async ({ method, url, body }) => {
    const response = await t.raw(`${url.pathname}${url.search}`, {
      method,
      ...(method === "POST" ? { body: new Uint8Array(body) } : {}),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    };
  });

describe.skipIf(!haveScepServer())("the SCEP proxy in front of scepserver", () => {
  it("gets the host its certificate, once for each challenge", async () => {
    const { url } = await startScepServer(CHALLENGE);
    const s = await scene(url);
    const { fake, services } = {
      fake: await listening(s.t),
      services: { running: runningOf({ settings: Settings.parse({ data_dir: "/x", ...allowLocal }) }), dryRun: null },
    };
    const read = await s.read();
    const ca = await openScep(services, fake.url + s.path(read.svc_challenge));
    const given = { subject: parseName(read.subject_name), challenge: read.scep_challenge, now: Date.now() };
    const issued = await enroll(services, ca, given);
    if (issued.status !== "issued") return expect.unreachable(issued.status);
    expect(issued.certificate.parsed.subject.split("\n").sort()).toEqual(["CN=UUID 1", "O=Example"]);
    await expect(enroll(services, ca, given)).rejects.toThrow("status 400");
    // Each read of the template creates a new challenge.
    const again = await s.read();
    expect(again.svc_challenge).not.toBe(read.svc_challenge);
    const second = await openScep(services, fake.url + s.path(again.svc_challenge));
    // scepserver issues one certificate at a time for a subject.
    const other = { ...given, subject: parseName("/CN=another") };
    expect((await enroll(services, second, other)).status).toBe("issued");
  });
});

describe.each(rulesEngines)("the SCEP proxy on %s", (engine) => {
  const start = async () => {
    const fake = await startFake(({ url }) => ({
      headers: {
        "content-type": url.searchParams.get("operation") === "GetCACert" ? "text/html" : "application/x-pki-message",
      },
      body: `answer to ${url.searchParams.get("operation")}`,
    }));
    return { fake, s: await scene(`${fake.url}/scep?label=a`, { engine }) };
  };

  it("passes messages on unchanged, and only valid replies", async () => {
    const { fake, s } = await start();
    const path = s.path((await s.read()).svc_challenge);
    const caps = await s.call(`${path}?operation=GetCACaps`);
    expect([caps.status, caps.headers.get("content-type"), await caps.text()]).toEqual([
      200,
      "text/plain",
      "answer to GetCACaps",
    ]);
    const cert = await s.call(`${path}?operation=GetCACert`);
    expect(cert.headers.get("content-type")).toBe("application/x-x509-ca-cert");
    expect((await s.call(`${path}?operation=GetNextCACert`)).status).toBe(400);
    expect((await s.call(path)).status).toBe(400);
    expect((await s.call(`${path}?operation=PKIOperation`)).status).toBe(400);
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect((await s.call(`${path}?operation=PKIOperation`, bytes)).status).toBe(200);
    expect(fake.requests.at(-1)!.body).toEqual(Buffer.from(bytes));
    expect(fake.requests.at(-1)!.url.search).toBe("?label=a&operation=PKIOperation");
    // With GET, and plus signs as some clients send them.
    const next = s.path((await s.read()).svc_challenge);
    expect((await s.call(`${next}?operation=PKIOperation&message=ab+c/d==`)).status).toBe(200);
    expect(fake.requests.at(-1)!.url.searchParams.get("message")).toBe("ab+c/d==");
    const third = s.path((await s.read()).svc_challenge);
    expect((await s.call(`${third}?operation=PKIOperation`, new Uint8Array(3 * 1024 * 1024))).status).toBe(413);
  });

  it("accepts each challenge once, for an hour, from its host", async () => {
    const { fake, s } = await start();
    const { t } = s;
    const message = (path: string) => s.call(`${path}?operation=PKIOperation`, Uint8Array.of(1));
    const first = await s.read();
    const good = s.path(first.svc_challenge);
    const other = await makeHost(t, { uuid: "UUID 2" });
    const team = await makeTeam(t);
    const wrong = [
      s.path("guess"),
      s.path(""),
      s.path(first.scep_challenge),
      s.path(first.svc_challenge, { uuid: "UUID 2" }),
      s.path(first.svc_challenge, { uuid: "" }),
      s.path(first.svc_challenge, { ca: "OTHER" }),
      s.path(first.svc_challenge, { template: "g999" }),
      s.path(first.svc_challenge, { template: String(s.templateId) }),
      s.path(`${first.svc_challenge},more`),
      "/mdm/scep/proxy/x",
    ];
    const told = new Set<string>();
    for (const path of wrong) {
      const refused = await message(path);
      expect(refused.status, path).toBe(400);
      const { errors } = (await refused.json()) as { errors: object };
      told.add(JSON.stringify(errors));
    }
    expect((await message("/mdm/scep/proxy/%ff")).status).toBe(400);
    expect(told.size, "nothing tells what was wrong").toBe(1);
    expect(fake.requests).toEqual([]);
    expect(other.id).not.toBe(s.hostId);

    const both = await Promise.all([message(good), message(good), message(good)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect((await s.call(`${good}?operation=GetCACert`)).status).toBe(400);

    const second = s.path((await s.read()).svc_challenge);
    t.clock.advance(60 * 60_000 + 1);
    expect((await message(second)).status).toBe(400);
    const [row] = await t.store.hostCertificates.list();
    expect(row).toMatchObject({ status: "pending", challenge_hash: null });

    const third = s.path((await s.read()).svc_challenge);
    await t.store.hosts.update({ where: { op: "eq", column: "id", value: s.hostId }, set: { team_id: team.id } });
    expect((await message(third)).status).toBe(400);
    await t.store.hosts.update({ where: { op: "eq", column: "id", value: s.hostId }, set: { team_id: null } });
    expect((await message(third)).status).toBe(200);

    const fourth = s.path((await s.read()).svc_challenge);
    const path = `/api/svcd/certificates/${s.templateId}/status`;
    await t.as(null).request("PUT", path, { status: "verified" }, { authorization: `Node key ${KEY}` });
    expect((await message(fourth)).status).toBe(400);
    expect(await s.read()).toMatchObject({ status: "verified", scep_challenge: null, svc_challenge: null });
    // Stored only as a hash.
    expect(JSON.stringify(await t.store.hostCertificates.list())).not.toContain(first.svc_challenge);
  });

  it("reports a failing authority, but none of its text, and logs no challenge", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const fake = await startFake(() => ({ status: 500, body: "words of the authority" }));
    const s = await scene(fake.url, { engine, log: pino({ level: "trace" }, sink) });
    const { svc_challenge: challenge } = await s.read();
    for (const reply of [
      { status: 500, body: "words of the authority" },
      { status: 302, headers: { location: "http://169.254.169.254/" } },
      { body: Buffer.alloc(3_000_000) },
    ]) {
      fake.answer = () => reply;
      const asked = await s.call(`${s.path(challenge)}?operation=GetCACert`);
      expect(asked.status).toBe(502);
      expect(await asked.text()).not.toContain("words");
    }
    expect(fake.requests).toHaveLength(3);
    expect(lines.join("")).toContain("scep/proxy/***");
    expect(lines.join("")).not.toContain(challenge);
  });
});
