// How machines become hosts: tokens that enroll for a while, and the files that install the agent.
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { EnrollToken } from "../../src/api/delivery/new-hosts.ts";
import { enrollCommands } from "../../src/server/delivery/new-hosts/commands.ts";
import { loadTls } from "../../src/server/platform/core/security/tls.ts";
import type { SettingsInput } from "../../src/server/platform/core/settings/settings.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { enrollTokenCleanup } from "../../src/server/settings/enroll-secrets/cleanup.ts";
import { findEnrollSecrets } from "../../src/server/settings/enroll-secrets/service.ts";
import { tables } from "../../src/server/tables.ts";
import { powershellWord, shellWord } from "../../src/text/shell.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { needAgentFile } from "../support/agent-file.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines, testCipher } from "../support/engines.ts";
import { agentCall } from "../support/managed.ts";

const HOUR = 3_600_000;

async function make(t: Pick<TestApp, "post">, body: object = {}): Promise<EnrollToken> {
  const response = await t.post("/enroll_tokens", body);
  expect(response.status).toBe(200);
  return (await response.json()) as EnrollToken;
}

let machines = 0;
/** The status of the enrollment, and the team of the host that it made. */
async function enroll(t: TestApp, secret: string): Promise<[status: number, teamId?: number | null]> {
  const uuid = `NEW-${++machines}`;
  const { status } = await agentCall(t, "/enroll", { enroll_secret: secret, hardware_uuid: uuid, platform: "ubuntu" });
  const host = (await t.store.hosts.list()).find((one) => one.uuid === uuid);
  return host === undefined ? [status] : [status, host.team_id];
}

beforeAll(needAgentFile);

describe.each(bothEngines)("an enroll token on %s", (engine) => {
  it("enrolls hosts into its team until it expires, on every server, and only its hash is stored", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const [none, one] = [await make(t), await make(t, { team_id: alpha, expires_in: "1h" })];
    expect(none).toMatchObject({ team_id: null, expires_at: new Date(t.clock.now() + 24 * HOUR).toISOString() });
    expect(one).toMatchObject({ team_id: alpha, expires_at: new Date(t.clock.now() + HOUR).toISOString() });
    expect(await enroll(t, none.token)).toEqual([200, null]);
    expect(await enroll(t, one.token)).toEqual([200, alpha]);
    expect(await enroll(t, one.token)).toEqual([200, alpha]);
    if (engine === "postgres") {
      const { databaseUrl: url } = t;
      const store = await openPostgres({ tables, url: url!, cipher: testCipher, create: true, poolSize: 2 });
      expect(await findEnrollSecrets({ store, clock: t.clock }, [one.token, "x"])).toEqual([{ team_id: alpha }, null]);
      await store.close();
    }
    const stored = JSON.stringify([await t.store.enrollTokens.list(), await t.store.activities.list()]);
    for (const { token } of [none, one]) expect(stored).not.toContain(token);
    t.clock.advance(HOUR);
    expect((await enroll(t, one.token))[0]).toBe(401);
    expect(await enroll(t, none.token)).toEqual([200, null]);
    await enrollTokenCleanup.run(t.services, new AbortController().signal);
    expect((await t.store.enrollTokens.list()).map(({ team_id }) => team_id)).toEqual([null]);
  });

  it("ends with its team and with the user who made it", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const { user, token: api } = await makeUser(t, "maintainer");
    const ofTeam = await make(t, { team_id: alpha });
    const ofUser = await make(t.as(api));
    expect((await enroll(t, ofUser.token))[0]).toBe(200);
    expect((await t.delete(`/teams/${alpha}`)).ok).toBe(true);
    expect((await t.delete(`/users/${user.id}`)).ok).toBe(true);
    expect((await enroll(t, ofTeam.token))[0]).toBe(401);
    expect((await enroll(t, ofUser.token))[0]).toBe(401);
  });
});

describe.each(rulesEngines)("enroll tokens on %s", (engine) => {
  it("are for those who may read enroll secrets, of the same team", async () => {
    const t = await startApp({ engine });
    const [alpha, beta] = [await makeTeam(t, "Alpha"), await makeTeam(t, "Beta")];
    const maintainer = await makeUser(t, { [alpha]: "maintainer" });
    const observer = await makeUser(t, "observer");
    const there = t.as(maintainer.token);
    expect((await there.post("/enroll_tokens", { team_id: alpha })).status).toBe(200);
    for (const body of [{}, { team_id: 0 }, { team_id: beta }])
      expect((await there.post("/enroll_tokens", body)).status).toBe(403);
    expect((await t.as(observer.token).post("/enroll_tokens", {})).status).toBe(403);
    expect((await t.post("/enroll_tokens", { team_id: 999 })).status).toBe(404);
    expect(await t.store.enrollTokens.count()).toBe(1);
  });

  it("for teams are premium", async () => {
    const t = await startApp({ engine, tier: "free" });
    expect((await t.post("/enroll_tokens", {})).status).toBe(200);
    expect((await t.post("/enroll_tokens", { team_id: 1 })).status).toBe(402);
  });

  it("are valid for a minute to a week", async () => {
    const t = await startApp({ engine });
    for (const expires_in of ["1m", "7d", "86400"])
      expect((await t.post("/enroll_tokens", { expires_in })).status).toBe(200);
    for (const expires_in of ["59s", "0", "8d", "", "tomorrow", "-1h"]) {
      const response = await t.post("/enroll_tokens", { expires_in });
      expect([expires_in, response.status]).toEqual([expires_in, 422]);
      expect((await errorOf(response)).errors?.[0]?.name).toBe("expires_in");
    }
  });

  it("are recorded, and no attempt with a bad one is free", async () => {
    const t = await startApp({ engine });
    const { expires_at } = await make(t);
    const made = (await t.store.activities.list()).filter(({ type }) => type === "created_enroll_token");
    expect(made.map(({ details }) => details)).toEqual([{ team_id: null, team_name: null, expires_at }]);
    expect((await enroll(t, "x".repeat(32)))[0]).toBe(401);
  });
});

describe("the files for new hosts", () => {
  it("need no token: the agent, and scripts that name its SHA-256", async () => {
    const t = await startApp();
    const get = async (path: string) => {
      const response = await t.raw(path);
      expect([path, response.status]).toEqual([path, 200]);
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    const agent = await get("/enroll/agent.mjs");
    const sha256 = createHash("sha256").update(agent.bytes).digest("hex");
    expect(agent.response.headers.get("etag")).toBe(`"${sha256}"`);
    for (const path of ["/enroll/enroll.sh", "/enroll/enroll.ps1"]) {
      const text = (await get(path)).bytes.toString("utf8");
      expect(text).toContain(`'${sha256}'`);
      expect(text).not.toContain("@AGENT_SHA256@");
    }
    const part = await t.raw("/enroll/agent.mjs", { headers: { range: "bytes=0-18" } });
    expect([part.status, await part.text()]).toEqual([206, "#!/usr/bin/env node"]);
    expect((await make(t)).agent_sha256).toBe(sha256);
  });
});

describe("a server whose certificate no system trusts", () => {
  const privateServer = async (settings: SettingsInput = {}) => {
    const t = await startApp({ settings: { tls_self_signed: true, ...settings } });
    await t.patch("/config", { server_settings: { server_url: "https://svc.example.com" } });
    const tls = await loadTls(t.services.settings);
    return { t, pem: tls?.cert };
  };
  const scriptOf = async (t: TestApp, name: string) => (await t.raw(`/enroll/${name}`)).text();

  it("is named in the commands by its key, and the scripts contain its certificate", async () => {
    const { t, pem } = await privateServer();
    const key = new X509Certificate(pem!).publicKey.export({ type: "spki", format: "der" });
    const pin = `--pinnedpubkey sha256//${createHash("sha256").update(key).digest("base64")}`;
    const { commands } = await make(t, { sign_requests: true });
    expect(commands.linux).toContain(`curl -fsSLk ${pin} https://svc.example.com/enroll/enroll.sh | sh`);
    expect(commands.linux).toMatch(/ --sign-requests$/);
    expect(commands.windows).toContain(`curl.exe -fsSLk ${pin} 'https://svc.example.com/enroll/enroll.ps1'`);
    expect(commands.windows).toMatch(/ -SignRequests$/);
    expect(await scriptOf(t, "enroll.sh")).toContain(`\nauthority='${pem!.trim()}'\n`);
    expect(await scriptOf(t, "enroll.ps1")).toContain(`\n$authority = '${pem!.trim()}'\n`);
  });

  it("is not, behind a proxy or without TLS of its own", async () => {
    for (const settings of [{ trusted_proxies: "10.0.0.0/8" }, { tls_self_signed: false }]) {
      const { t } = await privateServer(settings);
      const { commands } = await make(t);
      expect(commands.linux).toContain("curl -fsSL https://svc.example.com/enroll/enroll.sh | sh");
      expect(commands.linux).not.toContain("--sign-requests");
      expect(await scriptOf(t, "enroll.sh")).toContain("\nauthority=''\n");
    }
  });
});

describe("commands for new hosts", () => {
  const hostile = [
    "a b",
    "$(touch x)",
    "`touch x`",
    "'; touch x; '",
    'x"y',
    "a\\b",
    "-n",
    "*",
    "\u2019; touch x; \u2019",
  ];

  it("are one word for each value, whatever it contains", () => {
    for (const text of hostile) {
      const out = execFileSync("sh", ["-c", `printf %s ${shellWord(text)}`], { encoding: "utf8" });
      expect(out).toBe(text);
    }
    expect(powershellWord("it's")).toBe("'it''s'");
    expect(powershellWord("\u2018a\u2019\u201ab\u201b")).toBe("'\u2018\u2018a\u2019\u2019\u201a\u201ab\u201b\u201b'");
  });

  it("carry the URL and the token unchanged to the script", () => {
    for (const text of hostile) {
      const url = `https://svc.example.com/${text}`;
      const { linux, macos, windows } = enrollCommands(url, "-token", { signsRequests: false, keyPin: null });
      expect(macos).toBe(linux);
      // Functions in the place of the programs print their arguments, one on each line.
      const fakes = "curl() { printf '%s\\n' \"$@\" >&2; }; sh() { printf '%s\\n' sh \"$@\"; };";
      const out = execFileSync("sh", ["-c", `{ ${fakes} ${linux}; } 2>&1 | sort`], { encoding: "utf8" });
      expect(out.split("\n").filter(Boolean).sort()).toEqual(
        ["-fsSL", `${url}/enroll/enroll.sh`, "sh", "-s", "--", "--server-url", url, "--token", "-token"].sort(),
      );
      expect(windows).toContain(`-ServerUrl ${powershellWord(url)} -Token '-token'`);
    }
  });
});
