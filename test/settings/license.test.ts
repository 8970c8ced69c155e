import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompactSign, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readLicense } from "../../src/server/platform/core/security/license.ts";
import { loadServerKey } from "../../src/server/platform/core/security/server-key.ts";
import { errorOf, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { startApp, TestClock } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { mailOf } from "../support/smtp.ts";

const clock = new TestClock();
const ed25519 = generateKeyPairSync("ed25519");
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (pair: { publicKey: typeof ed25519.publicKey }) =>
  pair.publicKey.export({ type: "spki", format: "pem" }) as string;
const inAYear = Math.floor(clock.now() / 1000) + 365 * 86_400;
const claims = { iss: "svc", sub: "Example Ltd", tier: "premium", devices: 500, exp: inAYear, note: "for tests" };
const sign = (payload: object, key = ed25519.privateKey, alg = "EdDSA") =>
  new SignJWT({ ...payload }).setProtectedHeader({ alg }).sign(key);
const read = async (license_key: string, license_public_key: string | undefined = pem(ed25519)) =>
  readLicense({ license_key, license_public_key, dev_license: false }, clock);

describe("a license", () => {
  it("is free without a key", async () => {
    const license = await readLicense({ dev_license: false }, clock);
    expect(license.tier).toBe("free");
    expect(Date.parse(license.expiration)).toBeGreaterThan(clock.now());
  });

  it("is premium with the development license, and reports that", async () => {
    expect(await readLicense({ dev_license: true }, clock)).toMatchObject({
      tier: "premium",
      note: expect.stringContaining("development"),
    });
  });

  it.each([
    ["Ed25519", ed25519, "EdDSA"],
    ["P-256", p256, "ES256"],
  ])("has the content of a key that was signed with %s", async (_, pair, alg) => {
    expect(await read(await sign(claims, pair.privateKey, alg), pem(pair))).toEqual({
      tier: "premium",
      organization: "Example Ltd",
      device_count: 500,
      expiration: new Date(inAYear * 1000).toISOString(),
      note: "for tests",
    });
  });

  it("can be verified with a public key whose line breaks are escaped", async () => {
    const license = await read(`  ${await sign(claims)}\n`, pem(ed25519).replaceAll("\n", "\\n"));
    expect(license.tier).toBe("premium");
  });

  it("stays premium after it has expired", async () => {
    const exp = Math.floor(clock.now() / 1000) - 60;
    expect(await read(await sign({ ...claims, exp }))).toMatchObject({
      tier: "premium",
      expiration: new Date(exp * 1000).toISOString(),
    });
  });

  it("is refused if its signature is missing, from another key, or made with the public key", async () => {
    const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
    const swapped = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode(pem(ed25519)));
    const good = await sign(claims);
    const [head, , signature] = good.split(".");
    const raised = `${head}.${Buffer.from(JSON.stringify({ ...claims, devices: 9e9 })).toString("base64url")}.${signature}`;
    const foreign = await sign(claims, generateKeyPairSync("ed25519").privateKey);
    for (const token of [none, swapped, raised, foreign, good.slice(0, -4), "x", "a.b.c"])
      await expect(read(token), token).rejects.toThrow(/license_key was not signed with the expected key/);
    await expect(read(good, undefined)).resolves.toBeDefined();
    await expect(readLicense({ license_key: good, dev_license: true }, clock)).rejects.toThrow(/license_key/);
  });

  it.each([
    ["another issuer", { iss: "other" }, "iss"],
    ["no organization", { sub: "" }, "sub"],
    ["another tier", { tier: "ultimate" }, "tier"],
    ["no number of devices", { devices: "many" }, "devices"],
    ["no end", { exp: undefined }, "exp"],
    ["an end past the year 9999", { exp: 1e15 }, "exp"],
  ])("is refused with %s, with the claim", async (_, change, claim) => {
    await expect(read(await sign({ ...claims, ...change }))).rejects.toThrow(new RegExp(`claim ${claim} is wrong`));
  });

  it("is refused before it is valid", async () => {
    await expect(read(await sign({ ...claims, nbf: inAYear - 10 }))).rejects.toThrow(/valid only from/);
  });

  it("is refused with an invalid public key, or one of another kind", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await expect(read(await sign(claims), "nonsense")).rejects.toThrow(/license_public_key/);
    await expect(read(await sign(claims), pem(rsa))).rejects.toThrow(/license_public_key must be/);
  });
});

describe.each(rulesEngines)("an expired license, on %s", (engine) => {
  it("is reported in every reply, keeps premium data readable, and refuses premium changes with the reason", async () => {
    const t = await startApp({ engine });
    const id = await makeTeam(t, "Alpha");
    expect((await t.patch("/config", { mdm: { enable_disk_encryption: true } })).status).toBe(200);
    expect((await t.get("/teams")).headers.get("x-svc-license")).toBeNull();
    const expiration = new Date(t.clock.now() - 1000).toISOString();
    Object.assign(t.services.license, { expiration });
    const said = (response: Response) => [response.status, response.headers.get("x-svc-license")];
    for (const path of ["/teams", `/teams/${id}`, `/teams/${id}/users`, "/config", "/hosts?team_id=1", "/me"])
      expect([path, ...said(await t.get(path))]).toEqual([path, 200, "Expired"]);
    expect(said(await t.as(null).get("/me"))).toEqual([401, "Expired"]);
    expect(said(await t.get("/hosts/999"))).toEqual([404, "Expired"]);
    const changes: [string, string, object?][] = [
      ["POST", "/teams", { name: "Beta" }],
      ["PATCH", `/teams/${id}`, { name: "Beta" }],
      ["PATCH", "/teams/0", {}],
      ["DELETE", `/teams/${id}`],
      ["PATCH", `/teams/${id}/secrets`, { secrets: [] }],
    ];
    for (const [method, path, body] of changes) {
      const response = await t.request(method, path, body);
      expect([path, ...said(response)]).toEqual([path, 402, "Expired"]);
      expect((await errorOf(response)).errors?.[0]?.reason).toContain(
        `the license expired on ${expiration.slice(0, 10)}`,
      );
    }
    // Features of every tier continue to work; premium ones can be turned off, but not on.
    expect(said(await t.patch("/config", { org_info: { org_name: "New" } }))).toEqual([200, "Expired"]);
    const refused = await t.patch("/config", { mdm: { windows_require_bitlocker_pin: true } });
    expect(refused.status).toBe(422);
    expect((await errorOf(refused)).errors).toEqual([
      {
        name: "mdm.windows_require_bitlocker_pin",
        reason: `missing or invalid license: it expired on ${expiration.slice(0, 10)}`,
      },
    ]);
    expect((await t.patch("/config", { mdm: { enable_disk_encryption: false } })).status).toBe(200);
    expect((await t.get(`/teams/${id}`)).status).toBe(200);
  });
});

describe.each(rulesEngines)("premium fields of free features with an expired license, on %s", (engine) => {
  type Call = readonly [method: string, path: string, body?: object];
  const POLICY = { name: "critical", query: "SELECT 1", critical: true, labels_include_any: ["One"] };
  const QUERY = { name: "labelled", query: "SELECT 1", labels_include_any: ["One"] };

  it("cannot be set any more; existing values are kept and can be removed", async () => {
    const t = await startApp({ engine });
    await mailOf(t);
    const alpha = await makeTeam(t, "Alpha");
    const all = async (calls: readonly Call[]) => {
      const statuses: [string, number][] = [];
      for (const [method, path, body] of calls)
        statuses.push([`${method} ${path}`, (await t.request(method, path, body)).status]);
      return statuses;
    };
    const id = async (path: string, body: object) => {
      const reply = (await (await t.post(path, body)).json()) as Record<string, { id: number }>;
      return Object.values(reply).find((value) => typeof value === "object")!.id;
    };
    for (const name of ["One", "Two"]) await t.post("/labels", { name, query: "SELECT 1" });
    const critical = await id("/global/policies", POLICY);
    const plain = await id("/global/policies", { name: "plain", query: "SELECT 1" });
    const labelled = await id("/queries", QUERY);
    const ofTeam = await id("/queries", { name: "q", query: "SELECT 1", team_id: alpha });
    const pack = await id("/packs", { name: "pack", team_ids: [alpha] });
    const user = (await makeUser(t, "observer", { api_only: false })).user.id;
    const watcher = (await makeUser(t, "observer_plus", { api_only: false })).user.id;
    const mia = (await makeUser(t, "observer", { api_only: false, mfa_enabled: true })).user.id;
    const invited = await id("/invites", { name: "I", email: "i@example.com", global_role: "observer_plus" });
    const before = await t.store.activities.count();

    Object.assign(t.services.license, { expiration: new Date(t.clock.now() - 1000).toISOString() });
    const person = { name: "P", email: "p@example.com", password: PASSWORD };
    const refused: Call[] = [
      ["POST", "/global/policies", { name: "c2", query: "SELECT 1", critical: true }],
      ["POST", "/global/policies", { name: "c3", query: "SELECT 1", labels_exclude_any: ["One"] }],
      ["PATCH", `/global/policies/${plain}`, { critical: true }],
      ["PATCH", `/global/policies/${plain}`, { labels_include_any: ["One"] }],
      ["PATCH", `/global/policies/${critical}`, { labels_include_any: ["One", "Two"] }],
      ["PATCH", `/global/policies/${critical}`, { labels_exclude_any: ["One"] }],
      ["POST", "/spec/policies", { specs: [{ name: "c4", query: "SELECT 1", critical: true }] }],
      ["POST", "/spec/policies", { specs: [{ name: "c5", query: "SELECT 1", team: "Alpha" }] }],
      ["POST", "/queries", { name: "q2", query: "SELECT 1", team_id: alpha }],
      ["POST", "/queries", { name: "q3", query: "SELECT 1", labels_include_any: ["One"] }],
      ["PATCH", `/queries/${labelled}`, { labels_include_any: ["Two"] }],
      ["POST", "/spec/queries", { specs: [{ name: "q4", query: "SELECT 1", team: "Alpha" }] }],
      ["POST", "/packs", { name: "p2", team_ids: [alpha] }],
      ["POST", "/users/admin", { ...person, global_role: "observer_plus" }],
      ["POST", "/users/admin", { ...person, teams: [{ id: alpha, role: "observer" }] }],
      ["POST", "/users/admin", { ...person, global_role: "observer", mfa_enabled: true }],
      ["PATCH", `/users/${user}`, { global_role: "technician" }],
      ["PATCH", `/users/${user}`, { teams: [{ id: alpha, role: "observer" }] }],
      ["PATCH", `/users/${user}`, { mfa_enabled: true }],
      ["POST", "/invites", { name: "J", email: "j@example.com", global_role: "observer_plus" }],
      ["POST", "/invites", { name: "J", email: "j@example.com", global_role: "observer", mfa_enabled: true }],
      ["PATCH", `/invites/${invited}`, { teams: [{ id: alpha, role: "observer" }] }],
    ];
    expect(await all(refused)).toEqual(refused.map(([method, path]) => [`${method} ${path}`, 402]));
    expect(await t.store.activities.count()).toBe(before);

    const taken: Call[] = [
      ["PATCH", `/global/policies/${critical}`, { critical: true, labels_include_any: ["One"], description: "d" }],
      ["POST", "/spec/policies", { specs: [{ ...POLICY, description: "e" }] }],
      ["PATCH", `/global/policies/${critical}`, { critical: false, labels_include_any: [] }],
      ["PATCH", `/queries/${labelled}`, { labels_include_any: ["One"], description: "d" }],
      ["POST", "/spec/queries", { specs: [{ ...QUERY, description: "e" }] }],
      ["PATCH", `/queries/${labelled}`, { labels_include_any: [] }],
      ["PATCH", `/queries/${ofTeam}`, { description: "d" }],
      ["DELETE", `/queries/id/${ofTeam}`],
      ["PATCH", `/packs/${pack}`, { team_ids: [alpha], description: "d" }],
      ["PATCH", `/packs/${pack}`, { team_ids: [] }],
      ["PATCH", `/users/${watcher}`, { name: "W", global_role: "observer_plus" }],
      ["PATCH", `/users/${watcher}`, { global_role: "observer" }],
      ["PATCH", `/users/${mia}`, { name: "M", mfa_enabled: true }],
      ["PATCH", `/users/${mia}`, { mfa_enabled: false }],
      ["PATCH", `/invites/${invited}`, { name: "K" }],
      ["PATCH", `/invites/${invited}`, { global_role: "observer" }],
    ];
    expect(await all(taken)).toEqual(taken.map(([method, path]) => [`${method} ${path}`, 200]));
  });
});

describe("the server key", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-key-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is the given one", async () => {
    const key = Buffer.alloc(32, 7);
    const loaded = await loadServerKey({ server_private_key: ` ${key.toString("base64")}\n`, data_dir: dir });
    expect(Buffer.from(loaded)).toEqual(key);
    expect(await readdir(dir)).toEqual([]);
  });

  it.each([
    "",
    "short",
    Buffer.alloc(31).toString("base64"),
    Buffer.alloc(33).toString("base64"),
    "not base64 at all, but long enough!!",
  ])("is refused with its setting's name if it is %j", async (server_private_key) => {
    await expect(loadServerKey({ server_private_key, data_dir: dir })).rejects.toThrow(
      /SVC_SERVER_PRIVATE_KEY.*32 bytes/,
    );
  });

  it("is created once, readable by its owner only, and kept", async () => {
    const data_dir = join(dir, "new", "data");
    const first = await loadServerKey({ data_dir });
    expect(first).toHaveLength(32);
    expect((await stat(join(data_dir, "server.key"))).mode & 0o777).toBe(0o600);
    expect(Buffer.from(await loadServerKey({ data_dir }))).toEqual(Buffer.from(first));
    expect(await readdir(data_dir)).toEqual(["server.key"]);
  });

  it("is the same for servers that start concurrently", async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadServerKey({ data_dir: dir })));
    expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
    expect(await readdir(dir)).toEqual(["server.key"]);
  });

  it("is never replaced: an invalid file prevents the start", async () => {
    const file = join(dir, "server.key");
    for (const text of ["", "cut shor"]) {
      await writeFile(file, text);
      await expect(loadServerKey({ data_dir: dir })).rejects.toThrow(file);
      expect(await readFile(file, "utf8")).toBe(text);
    }
    await chmod(file, 0o600);
  });
});
