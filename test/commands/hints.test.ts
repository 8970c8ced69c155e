// What commands say when a server refuses them, or cannot be reached: the cause, and what to do about it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { errorReport } from "../../src/cli/errors.ts";
import { unreachable } from "../../src/client/transport.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import { eq, gt, isNull } from "../../src/server/platform/store/query.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { newHome } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeSession, makeUser } from "../support/make.ts";
import { declaration, makeProfile } from "../support/profiles.ts";

let fleet: Fleet;
let observer: Record<string, string>;
beforeEach(async () => {
  fleet = await startFleet();
  const { id } = await makeUser(fleet.app, "observer", { email: "eve@example.com" });
  observer = { SVC_API_TOKEN: await makeSession(fleet.app, id) };
});

describe("a token that the server refuses", () => {
  it("is named by where it is from, with what to do", async () => {
    const { exitCode, stderr } = await fleet.run(["hosts", "list"], { env: { SVC_API_TOKEN: "wrong" } });
    expect(exitCode).toBe(4);
    expect(stderr).toBe(
      "Error: the token of SVC_API_TOKEN is not valid or has expired\n" +
        "Set SVC_API_TOKEN to a valid token, or unset it to use the sign-in of `svc login`.\n",
    );
    const login = await fleet.run(["login", "--token-stdin"], { stdin: "wrong" });
    expect([login.exitCode, login.stderr]).toEqual([4, expect.stringContaining("the token of --token-stdin is not")]);
  });

  it("of a context is renewed by signing in", async () => {
    const own = await startFleet();
    await own.app.store.sessions.delete(eq("user_id", 1));
    const { exitCode, stderr } = await own.run(["hosts", "list"]);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("the token of the context local is not valid")]);
    expect(stderr).toContain("Sign in again with `svc login`.");
  });

  it("is not blamed if none was sent", async () => {
    const { stderr } = await fleet.run(["hosts", "list"], { home: await newHome() });
    expect(stderr).toContain("not signed in to");
  });
});

describe("a required password reset", () => {
  it("is hinted at with the command that does it", async () => {
    const { id } = await makeUser(fleet.app, "admin", { email: "new@example.com", force_password_reset: true });
    const env = { SVC_API_TOKEN: await makeSession(fleet.app, id) };
    const { exitCode, stderr } = await fleet.run(["hosts", "list"], { env });
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("password reset required")]);
    expect(stderr).toContain("`svc users password --required`");
    expect(stderr).not.toContain("svc login");
  });
});

describe("a refusal", () => {
  it("names the action, and how to ask for it", async () => {
    const team = await fleet.run(["hosts", "delete", "linux-1.example.com", "--yes"], { env: observer });
    expect([team.exitCode, team.stderr]).toEqual([4, expect.stringContaining("this requires hosts:delete")]);
    const api = await fleet.run(["api", "DELETE", "/hosts/1"], { env: observer });
    expect(api.stderr).toContain("forbidden: this requires hosts:delete\n`svc can-i hosts:delete` checks it");
    const config = await fleet.run(["config", "set", "org_info.org_name=x"], { env: observer });
    expect(config.stderr).toMatch(/this requires config:write with a global role\n`svc can-i config:write`/);
  });

  it("with a reason of its own gets no hint about roles", async () => {
    await fleet.app.patch("/config", { server_settings: { scripts_disabled: true } });
    const { stderr } = await fleet.run(["api", "POST", "/scripts/run", "-F", "host_id=1", "-F", "script_contents=ls"]);
    expect(stderr).toContain("disabled in the settings");
    expect(stderr).not.toContain("can-i");
  });
});

describe("errors of TLS", () => {
  const reportOf = (code: string, url = "https://svc.example.com") =>
    errorReport(unreachable(url, Object.assign(new Error("x"), { code })));
  it.each([
    ["ERR_SSL_WRONG_VERSION_NUMBER", "does not speak TLS", "http://svc.example.com"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "is not trusted", "--ca-file"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "is not trusted", "--ca-file"],
    ["CERT_HAS_EXPIRED", "has expired", "Renew the certificate"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "is for other names", "Use a name"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "no TLS connection", "client certificate"],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "no TLS connection", "version of TLS"],
  ])("%s: %s", (code, message, hint) => {
    const report = reportOf(code);
    expect(report.message).toContain(message);
    expect(report.hint).toContain(hint);
    expect(report.exitCode).toBe(8);
  });

  it("from a client without TLS to a server with TLS name https", () => {
    expect(reportOf("UND_ERR_SOCKET", "http://svc.example.com").hint).toContain("https://");
  });

  it("is what Node reports when the server speaks plain HTTP", async () => {
    const server = createServer((_, res) => res.end("ok"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const { networkSend } = await import("../../src/client/transport.ts");
    const url = `https://127.0.0.1:${port}/`;
    const error = await Promise.resolve(networkSend({ timeout: 5000 })(url, { method: "GET", headers: {} })).catch(
      (error: unknown) => error,
    );
    server.close();
    expect(unreachable(url, error).message).toContain("does not speak TLS");
  });
});

describe("flags of durations", () => {
  it("take seconds and units, in the whole numbers of seconds that the API has", async () => {
    const create = async (interval: string) => {
      const argv = ["queries", "create", "--name", `every ${interval}`, "--query", "SELECT 1", "--interval", interval];
      return fleet.run([...argv, "--request-timeout", "5s"]);
    };
    const made = async () => (await fleet.app.store.queries.list({ where: gt("interval", 0) })).at(-1)?.interval;
    for (const [text, seconds] of [
      ["600", 600],
      ["1h", 3600],
      ["90s", 90],
    ] as const) {
      expect((await create(text)).exitCode, text).toBe(0);
      expect(await made(), text).toBe(seconds);
    }
    const wrong = await create("1x");
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      "Error: --interval: 1x is not a duration in whole seconds\nExamples: 30, 25s, 10m, 24h.\n",
    ]);
    const none = await fleet.run(["hosts", "list", "--request-timeout", "0s"]);
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("--request-timeout: 0s is less than 1")]);
    const env = await fleet.run(["hosts", "count"], { env: { SVC_REQUEST_TIMEOUT: "5m" } });
    expect(env.exitCode).toBe(0);
  });
});

describe("mistyped names", () => {
  it("of columns of a report are answered with the columns that there are", async () => {
    const none = await fleet.run(["hosts", "report", "--columns", "nope", "-o", "-"]);
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("columns: id, display_name, hostname, ")]);
    const near = await fleet.run(["hosts", "report", "--columns", "hostnam", "-o", "-"]);
    expect(near.stderr).toContain("did you mean hostname?");
  });

  it("of settings are answered with the nearest", async () => {
    const path = "webhook_settings.intervl";
    const { exitCode, stderr } = await fleet.run(["config", "set", `${path}=8h`]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Did you mean webhook_settings.interval?")]);
  });
});

describe("times of activities", () => {
  const list = (...argv: string[]) => fleet.run(["activities", "list", "-o", "json", ...argv], { now: new Date() });
  it("can be how long ago", async () => {
    await fleet.app.store.activities.update({
      where: eq("type", "created_team"),
      set: { created_at: "2020-01-01T00:00:00.000Z" },
    });
    const types = ({ stdout }: { stdout: string }) => JSON.parse(stdout).map(({ type }: { type: string }) => type);
    expect(types(await list("--all"))).toContain("created_team");
    expect(types(await list("--all", "--start-created-at", "1000d"))).not.toContain("created_team");
    expect(types(await list("--all", "--end-created-at", "1000d"))).toContain("created_team");
  });

  it("name the formats in errors", async () => {
    const { exitCode, stderr } = await list("--start-created-at", "yesterday");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--start-created-at: yesterday is not a time")]);
    expect(stderr).toContain("2026-01-31T22:00:00Z");
  });
});

it("api --dry-run applies --jq to the reply", async () => {
  const argv = ["api", "PATCH", "/config", "-F", "org_info.org_name=New", "--dry-run", "--jq", ".org_info.org_name"];
  expect((await fleet.run(argv)).stdout).toBe("New\n");
});

it("enroll-secrets rotate --grace lets the server remove the old secrets, and does not wait", async () => {
  const { exitCode, stderr, stdout } = await fleet.run(["enroll-secrets", "rotate", "--grace", "1h", "--yes"]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("the server removes 1 old global secret at 2026-03-01T13:00:00.000Z; until then they stay");
  const { stdout: listed } = await fleet.run(["enroll-secrets", "list"]);
  expect(listed).toMatch(/^\S+ +2026-03-01T\S+ +2026-03-01T13:00:00\.000Z$/m);
  expect(listed).toContain(stdout.trim());
  // A second rotation does not give the oldest secret more time.
  await fleet.run(["enroll-secrets", "rotate", "--grace", "2h", "--yes"]);
  const again = (await fleet.run(["enroll-secrets", "list"])).stdout;
  expect([again.includes("T13:00:00.000Z"), again.includes("T14:00:00.000Z")]).toEqual([true, true]);
});

it("hosts profiles shows the status of each profile, and why it failed", async () => {
  await turnOnAppleMdm(fleet.app);
  await makeProfile(fleet.app, { name: "Passcode", content: declaration("passcode") });
  await fleet.app.services.running.of(profileReconciler).run();
  const [{ uuid = "" } = {}] = await fleet.app.store.configurationProfiles.list({ where: isNull("team_id") });
  const row = {
    host_id: 2,
    profile_uuid: uuid,
    platform: "darwin",
    name: "Passcode",
    operation_type: "install",
  } as const;
  await fleet.app.store.hostProfiles.insert({ ...row, status: "failed", detail: "the device refused it" });
  const shown = await fleet.run(["hosts", "profiles", "2"]);
  expect(shown.stdout).toMatch(/^\S+ +Passcode +passcode +failed +the device refused it /m);
  const json = await fleet.run(["hosts", "profiles", "2", "-o", "json"]);
  expect(JSON.parse(json.stdout)).toMatchObject([
    { profile_uuid: uuid, status: "failed", detail: "the device refused it" },
  ]);
});
