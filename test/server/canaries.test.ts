// Known secrets are sent in every possible way; none may be found in stored data, logs, replies or errors.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import pg from "pg";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { issueToken } from "../../src/server/platform/mail/one-time.ts";
import { login } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";

/** No part of one canary is part of another, and each follows the rules of passwords. */
const canary = (name: string) => `canary-${name}-${Buffer.from(name).toString("hex")}-7!`;

async function folder(dir: string): Promise<Buffer> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Buffer.concat(await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name)))));
}

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
    expect(rows.length).toBeGreaterThan(10);
    let text = "";
    for (const { relname } of rows) {
      const found = await client.query(`SELECT t::text AS row FROM "${relname}" AS t`);
      text += found.rows.map(({ row }) => row as string).join("\n");
    }
    return text;
  } finally {
    await client.end();
  }
}

async function plant(t: TestApp): Promise<{ secrets: string[]; refusals: string }> {
  const secrets: string[] = [t.token, ADMIN.password];
  const refusals: string[] = [];
  const plain = (name: string) => {
    secrets.push(canary(name));
    return canary(name);
  };
  const accepted = async <T>(answer: Promise<Response>): Promise<T> => {
    const res = await answer;
    expect(res.status, await res.clone().text()).toBe(200);
    return (await res.json()) as T;
  };
  const refused = async (answer: Promise<Response>) => {
    const res = await answer;
    expect(res.status).toBeGreaterThanOrEqual(400);
    refusals.push(await res.text());
  };
  await accepted(
    t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: plain("g1") }, { secret: plain("g2") }] } }),
  );
  const { team } = (await accepted(t.post("/teams", { name: "T", secrets: [{ secret: plain("t1") }] }))) as {
    team: { id: number };
  };
  await accepted(
    t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: plain("t2") }, { secret: canary("t1") }] }),
  );
  await accepted(t.patch(`/teams/${team.id}`, { description: "d", secrets: [{ secret: plain("t3") }] }));
  const hook = "https://hooks.example.com/";
  const { destination } = await accepted<{ destination: { signing_secret: string } }>(
    t.patch("/webhooks/destinations", { url: hook, headers: { "x-key": plain("w1") } }),
  );
  secrets.push(destination.signing_secret);
  await refused(t.patch("/webhooks/destinations", { url: hook, headers: { host: plain("w2") } }));
  const person = { name: "P", email: "p@example.com", global_role: "observer", admin_forced_password_reset: true };
  await accepted(t.post("/users/admin", { ...person, password: plain("p1") }));
  const robot = await accepted<{ token: string }>(
    t.post("/users/admin", {
      ...person,
      email: "r@example.com",
      api_only: true,
      password: plain("p2"),
      admin_forced_password_reset: false,
    }),
  );
  secrets.push(robot.token);
  const first = await accepted<{ token: string }>(login(t, "p@example.com", canary("p1")));
  secrets.push(first.token);
  await accepted(t.as(first.token).post("/perform_required_password_reset", { new_password: plain("p3") }));
  const second = await accepted<{ token: string; user: { id: number } }>(login(t, "p@example.com", canary("p3")));
  secrets.push(second.token);
  await accepted(
    t.as(second.token).post("/change_password", { old_password: canary("p3"), new_password: plain("p4") }),
  );
  await accepted(
    t.as(second.token).patch(`/users/${second.user.id}`, { password: canary("p4"), new_password: plain("p5") }),
  );
  const enrolled = await t.raw("/api/v1/qengine/enroll", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ enroll_secret: canary("g1"), host_identifier: "h-1", platform_type: "9" }),
  });
  const { node_key: nodeKey } = (await enrolled.json()) as { node_key: string };
  expect(nodeKey.length).toBeGreaterThan(30);
  secrets.push(nodeKey);
  const [host] = await t.store.hosts.list();
  const key_updated_at = t.clock.iso();
  await t.store.hostDiskEncryption.insert({ id: host!.id, status: "verified", key: plain("d1"), key_updated_at });
  const told = await accepted<{ encryption_key: { key: string } }>(t.get(`/hosts/${host!.id}/encryption_key`));
  expect(told.encryption_key.key).toBe(canary("d1"));
  const tracker = { url: "https://tracker.example.com", username: "u", project_key: "OPS" };
  const desk = { url: "https://desk.example.com", email: "u@example.com", group_id: 7 };
  const key = { type: "service_account", client_email: "x@example.com" };
  await accepted(
    t.patch("/config", {
      smtp_settings: { server: "mx.example.com", user_name: "svc", password: plain("m1") },
      integrations: {
        ticketing_a: [{ ...tracker, api_token: plain("ta1") }],
        ticketing_b: [{ ...desk, api_token: plain("tb1") }],
        calendar: [{ domain: "example.com", api_key_json: { ...key, private_key: plain("pk1"), other: plain("pk2") } }],
      },
    }),
  );
  const { integrations } = (await accepted(t.get("/config"))) as { integrations: Record<string, object[]> };
  await accepted(
    t.patch("/config", {
      smtp_settings: { password: plain("m2") },
      integrations: {
        ticketing_a: [{ ...tracker, api_token: plain("ta2") }, ...integrations.ticketing_a!].slice(0, 1),
      },
    }),
  );
  const smtp_settings = { server: "127.0.0.1", port: 9, sender_address: "svc@example.com", user_name: "u" };
  await accepted(t.patch("/config", { smtp_settings: { ...smtp_settings, enable_smtp: true, password: plain("m1") } }));
  for (const kind of ["password_reset", "email_change", "mfa"] as const)
    secrets.push(await issueToken(t.services, kind, second.user.id, 60_000, { email: "later@example.com" }));
  await refused(t.post("/config/test_mail", {}));
  await refused(t.post("/config/test_mail", { smtp_settings: { password: plain("m2") } }));
  await refused(t.as(null).post("/sessions", { token: plain("m3") }));
  await refused(t.as(null).post("/reset_password", { new_password: plain("m4"), password_reset_token: plain("m5") }));
  const ca = await accepted<{ id: number }>(
    t.post("/certificate_authorities?skip_check=true", {
      custom_scep_proxy: { name: "A", url: "https://scep.example.com", challenge: plain("ca1") },
    }),
  );
  await accepted(
    t.patch(`/certificate_authorities/${ca.id}?skip_check=true`, { custom_scep_proxy: { challenge: plain("ca2") } }),
  );
  await refused(
    t.post("/certificate_authorities", {
      custom_est_proxy: { name: "B", url: "http://127.0.0.1:1", username: "u", password: plain("ca3") },
    }),
  );
  await refused(
    t.post(`/certificate_authorities/${ca.id}/request_certificate`, { csr: plain("ca4"), idp_token: plain("ca5") }),
  );
  await refused(login(t, "p@example.com", plain("w1")));
  await refused(login(t, "nobody@example.com", plain("w2")));
  await refused(t.post("/login", { email: "p@example.com", password: [plain("w3")] }));
  await refused(t.post("/login", `{"email": "p@example.com", "password": "${plain("w4")}`));
  await refused(t.post("/login", { email: "p@example.com", password: plain("w5").repeat(100) }));
  await refused(t.post("/users/admin", { ...person, email: "x@example.com", password: plain("w6").repeat(3) }));
  await refused(t.post("/users/admin", { ...person, password: plain("w7") }));
  await refused(t.post("/change_password", { old_password: plain("w8"), new_password: plain("w9") }));
  await refused(t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: `${plain("s1")}\n` }] } }));
  await refused(t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: canary("t3") }] } }));
  await refused(
    t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: plain("s2") }, { secret: canary("s2") }] } }),
  );
  await refused(t.patch("/config", { org_info: { password: plain("c1") }, secrets: plain("c2") }));
  await refused(t.patch("/config", { smtp_settings: { password: plain("m3"), port: plain("m4") } }));
  await refused(t.patch("/config", { smtp_settings: { password: [plain("m5")] } }));
  await refused(
    t.patch("/config", {
      integrations: {
        ticketing_a: [{ ...tracker, url: "ldap://x", api_token: plain("ta3") }],
        calendar: [{ domain: "", api_key_json: { private_key: plain("pk3") } }],
      },
    }),
  );
  await refused(t.patch("/config", { integrations: { ticketing_b: [{ ...desk, token: plain("tb2") }] } }));
  await refused(t.as(`${plain("k1").replaceAll("!", "_")}`).get("/me"));
  await refused(t.request("GET", "/me", undefined, { authorization: `Basic ${plain("k2")}` }));
  const agent = await t.raw("/api/v1/qengine/enroll", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ enroll_secret: plain("e1"), host_identifier: "h-2" }),
  });
  refusals.push(await agent.text());
  return { secrets, refusals: refusals.join("\n") };
}

describe.each(bothEngines)("known secrets on %s", (engine) => {
  it("are in no file, row, log line, activity or error", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const t = await startApp({
      engine,
      log: pino({ level: "trace" }, sink),
      settings: { outbound_allow: "127.0.0.1" },
    });
    const { secrets, refusals } = await plant(t);
    t.services.log.info("the log is read");
    expect(secrets.length).toBeGreaterThanOrEqual(20);
    const places: Record<string, string | Buffer> = {
      files: await folder(t.services.settings.data_dir),
      rows: t.databaseUrl === null ? "" : await dump(t.databaseUrl),
      log: lines.join(""),
      activities: await (await t.get("/activities")).text(),
      refusals,
      users: await (await t.get("/users")).text(),
      config: await (await t.get("/config")).text(),
      hosts: await (await t.get("/hosts")).text(),
      metrics: await (await t.raw("/metrics")).text(),
    };
    // The planted data is in the places that are searched.
    expect(places.log).toContain("the log is read");
    expect(places[engine === "lowdb" ? "files" : "rows"]!.includes("p@example.com")).toBe(true);
    expect(places.activities).toContain("user_failed_login");
    const hits: string[] = [];
    for (const [place, text] of Object.entries(places))
      for (const secret of secrets)
        for (const form of [
          secret,
          Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -1),
          Buffer.from(secret).toString("hex"),
        ])
          if (text.includes(form)) hits.push(`${place}: ${secret.slice(0, 12)}`);
    expect(hits).toEqual([]);
  });
});
