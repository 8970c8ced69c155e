// enroll-secrets, config, teams and api.
import { describe, expect, it } from "vitest";
import { everything } from "../../src/server/platform/store/query.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

const json = ({ stdout }: { stdout: string }) => JSON.parse(stdout);
const secrets = async (fleet: Fleet, ...argv: string[]): Promise<string[]> =>
  json(await fleet.run(["enroll-secrets", "list", "-o", "json", ...argv])).map(
    ({ secret }: { secret: string }) => secret,
  );

describe("enroll secrets", () => {
  it("are added, removed by their beginning, and replaced", async () => {
    const fleet = await startFleet();
    const added = await fleet.run(["enroll-secrets", "add"]);
    const fresh = added.stdout.trim();
    expect(fresh).toMatch(/^[\w-]{32}$/);
    expect((await secrets(fleet)).sort()).toEqual(["example-secret", fresh].sort());
    expect(added.stderr).toBe("added 1 global secret (hosts that enroll with it belong to no team)\n");
    const removed = await fleet.run(["enroll-secrets", "remove", "example", "--yes"]);
    expect(removed.exitCode).toBe(0);
    expect(removed.stderr).not.toContain("example-secret");
    expect(await secrets(fleet)).toEqual([fresh]);
    expect((await fleet.run(["enroll-secrets", "remove", "exa", "--yes"])).exitCode).toBe(2);
    expect((await fleet.run(["enroll-secrets", "remove", "nope-nope", "--yes"])).exitCode).toBe(3);
    expect((await fleet.run(["enroll-secrets", "set", "--secrets-stdin"], { stdin: "a-1\nb-2\n" })).exitCode).toBe(2);
    await fleet.run(["enroll-secrets", "set", "--secrets-stdin", "--yes"], { stdin: "a-1\nb-2\n" });
    expect((await secrets(fleet)).sort()).toEqual(["a-1", "b-2"]);
  });

  it("belong to a team with --team, and dry runs do not change them", async () => {
    const fleet = await startFleet();
    const team = ["--team", "Lab"];
    await fleet.run(["enroll-secrets", "add", "--dry-run", ...team]);
    expect(await secrets(fleet, ...team)).toEqual(["secret-of-Lab"]);
    expect((await fleet.run(["enroll-secrets", "add", ...team])).stderr).toBe("added 1 secret of team Lab\n");
    expect(await secrets(fleet, ...team)).toHaveLength(2);
    expect(await secrets(fleet)).toEqual(["example-secret"]);
  });

  it("rotate: the new secret is valid beside the old one until the server removes that", async () => {
    const fleet = await startFleet();
    const result = await fleet.run(["enroll-secrets", "rotate", "--grace", "10m", "--yes"]);
    const fresh = result.stdout.trim();
    expect([result.exitCode, result.waits]).toEqual([0, []]);
    expect((await secrets(fleet)).sort()).toEqual(["example-secret", fresh].sort());
    await fleet.run(["enroll-secrets", "rotate", "--yes"]);
    expect(await secrets(fleet)).toHaveLength(1);
  });

  it("rotate refuses an invalid grace period", async () => {
    const fleet = await startFleet();
    expect((await fleet.run(["enroll-secrets", "rotate", "--grace", "soon", "--yes"])).exitCode).toBe(2);
    expect(await secrets(fleet)).toEqual(["example-secret"]);
  });
});

describe("config", () => {
  it("set warns of enrolled Apple devices that do not connect to the new URL", async () => {
    const fleet = await startFleet();
    await enrolledDevice(fleet.app);
    const path = "/mdm/vendora/mdm";
    await fleet.app.store.appleEnrollments.update({
      where: everything,
      set: { server_url: `https://svc.example.com${path}` },
    });
    const set = async (url: string) => (await fleet.run(["config", "set", `mdm.vendora_server_url=${url}`])).stderr;
    expect(await set("https://svc.example.com")).not.toContain("enrolled");
    expect(await set("https://new.example.com")).toContain(
      "1 Apple device is enrolled with another URL of this server, and does not connect to this one",
    );
    expect((await fleet.run(["mdm", "apple", "status"])).stderr).toContain("1 Apple device is enrolled");
  });

  it("is read by path and changed by assignments", async () => {
    const fleet = await startFleet();
    const set = await fleet.run([
      "config",
      "set",
      "org_info.org_name=42",
      "host_expiry_settings.host_expiry_enabled=true",
      "host_expiry_settings.host_expiry_window=30",
    ]);
    expect(set.exitCode).toBe(0);
    expect(set.stdout).toBe("");
    expect((await fleet.run(["config", "get", "org_info.org_name"])).stdout).toBe("42\n");
    expect(json(await fleet.run(["config", "get", "host_expiry_settings", "-o", "json"]))).toEqual({
      host_expiry_enabled: true,
      host_expiry_window: 30,
    });
    expect((await fleet.run(["config", "get", "org_info.org_nam"])).stderr).toContain(
      "Did you mean org_info.org_name?",
    );
  });

  it("reports in a dry run what would change, and the server's refusal", async () => {
    const fleet = await startFleet();
    const { stdout } = await fleet.run(["config", "set", "org_info.org_name=New", "--dry-run", "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      dry_run: true,
      changes: [{ field: "org_info.org_name", from: "Test", to: "New" }],
    });
    expect((await fleet.run(["config", "get", "org_info.org_name"])).stdout).toBe("Test\n");
    expect((await fleet.run(["config", "set", "org_info.nope=1", "--dry-run"])).exitCode).toBe(1);
    expect((await fleet.run(["config", "set", "org_info"])).exitCode).toBe(2);
    expect((await fleet.run(["config", "set", "__proto__.x=1"])).exitCode).toBe(2);
  });

  it("accepts lists and objects as JSON, and text that looks like them in text settings", async () => {
    const fleet = await startFleet();
    const at = "webhook_settings.failing_policies_webhook.policy_ids";
    expect((await fleet.run(["config", "set", `${at}=[1]`, "org_info.org_name=[Example]"])).exitCode).toBe(0);
    expect(JSON.parse((await fleet.run(["config", "get", at, "-o", "json"])).stdout)).toEqual([1]);
    expect((await fleet.run(["config", "get", "org_info.org_name"])).stdout).toBe("[Example]\n");
    expect(await fleet.run(["config", "set", `${at}=[1`])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("is not JSON"),
    });
  });
});

describe("teams", () => {
  it("are created, changed, joined, left and deleted", async () => {
    const fleet = await startFleet();
    const team = json(
      await fleet.run([
        "teams",
        "create",
        "--name",
        "Field",
        "--host-expiry-enabled",
        "--host-expiry-window",
        "9",
        "-o",
        "json",
      ]),
    );
    expect(team).toMatchObject({
      name: "Field",
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 },
    });
    const dry = json(await fleet.run(["teams", "update", "Field", "--description", "x", "--dry-run", "-o", "json"]));
    expect(dry.changes).toEqual([{ field: "description", from: "", to: "x" }]);
    await fleet.run(["teams", "users", "add", "Field", "--user", "member@example.com", "--role", "observer"]);
    expect((await fleet.run(["teams", "users", "list", "Field", "--fields", "email", "--no-header"])).stdout).toBe(
      "member@example.com\n",
    );
    await fleet.run(["teams", "users", "remove", "Field", "--user", "member@example.com", "--yes"]);
    expect((await fleet.run(["teams", "users", "list", "Field"])).stdout).toBe("");
    expect((await fleet.run(["teams", "delete", "Field", "--yes"])).exitCode).toBe(0);
    expect((await fleet.run(["teams", "get", "Field"])).exitCode).toBe(3);
  });

  it("exit with 4 and a hint on the free tier", async () => {
    const fleet = await startFleet({ tier: "free" });
    const { exitCode, stderr } = await fleet.run(["teams", "list"]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain("license");
  });
});

describe("activities list", () => {
  it("lists the newest first, unless another order is given", async () => {
    const fleet = await startFleet();
    await fleet.run(["teams", "create", "--name", "One"]);
    fleet.app.clock.advance(1_000);
    await fleet.run(["teams", "create", "--name", "Two"]);
    const times = async (...argv: string[]): Promise<string[]> =>
      json(await fleet.run(["activities", "list", "-o", "json", ...argv])).map(
        ({ created_at }: { created_at: string }) => created_at,
      );
    const newest = await times();
    expect(new Set(newest).size).toBeGreaterThan(1);
    expect(newest).toEqual([...newest].sort().reverse());
    expect(await times("--order-key", "created_at")).toEqual([...newest].reverse());
    expect(await times("--order-direction", "asc")).toEqual([...newest].reverse());
  });
});

describe("api", () => {
  it("calls any path, full or short, with query, fields and body", async () => {
    const fleet = await startFleet();
    expect(json(await fleet.run(["api", "get", "hosts/count", "-F", "status=online"]))).toEqual({ count: 2 });
    expect(json(await fleet.run(["api", "/hosts/count"])), "GET without a method").toEqual({ count: 3 });
    const wordless = await fleet.run(["api", "POST"]);
    expect([wordless.exitCode, wordless.stderr]).toEqual([
      2,
      "Error: PATH is required\nExample: svc api GET /hosts.\n",
    ]);
    expect(json(await fleet.run(["api", "GET", "/api/latest/svc/hosts/count"]))).toEqual({ count: 3 });
    await fleet.run([
      "api",
      "PATCH",
      "/config",
      "-F",
      "org_info.org_name=Via api",
      "-F",
      "server_settings.query_report_cap=7",
    ]);
    expect((await fleet.run(["config", "get", "server_settings.query_report_cap"])).stdout).toBe("7\n");
    const planned = await fleet.run(["api", "POST", "/teams", "-F", "name=Planned", "--dry-run"]);
    const request = { method: "POST", path: "/api/v1/svc/teams", body: { name: "Planned" } };
    expect(json(planned)).toMatchObject({ ...request, reply: { team: { name: "Planned" } } });
    expect((await fleet.run(["teams", "get", "Planned"])).exitCode).toBe(3);
    const body = await fleet.run(["api", "POST", "/teams", "--input", "-"], { stdin: '{"name":"Piped"}' });
    expect(json(body)).toMatchObject({ team: { name: "Piped" } });
    expect((await fleet.run(["api", "GET", "/nope"])).exitCode).toBe(3);
    expect((await fleet.run(["api", "FETCH", "/nope"])).exitCode).toBe(2);
    expect((await fleet.run(["api", "GET", "//evil.test/x"])).exitCode).toBe(2);
  });

  it("merges the pages of a list", async () => {
    const fleet = await startFleet();
    const whole = json(await fleet.run(["api", "GET", "/hosts", "--paginate", "-F", "per_page=1"]));
    expect(whole.hosts).toHaveLength(3);
    expect(whole.meta.has_next_results).toBe(false);
  });
});

describe("GitOps mode", () => {
  it("is overridden with a reason in any language, and with none that a header cannot have", async () => {
    const fleet = await startFleet();
    const repository_url = "https://git.example.com/devices";
    await fleet.app.patch("/config", { gitops: { gitops_mode_enabled: true, repository_url } });
    const set = (SVC_GITOPS_OVERRIDE: string) =>
      fleet.run(["config", "set", "org_info.org_name=Acme"], { env: { SVC_GITOPS_OVERRIDE } });
    expect((await set("")).exitCode).toBe(4);
    for (const broken of ["one\ntwo", "a\u0000b", "x".repeat(501)])
      expect(await set(broken)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("SVC_GITOPS_OVERRIDE: must be a reason"),
      });
    expect(await set("Störung – 12 ☃")).toMatchObject({ exitCode: 0 });
    const recorded = (await fleet.app.store.activities.list()).filter(({ type }) => type === "overrode_gitops_mode");
    expect(recorded.map(({ details }) => details?.reason)).toEqual(["Störung – 12 ☃"]);
  });
});

it("a token that no header can contain is a mistake that names its place", async () => {
  const fleet = await startFleet();
  for (const SVC_API_TOKEN of ["tökén☃", "two\nlines"])
    expect(await fleet.run(["whoami"], { env: { SVC_API_TOKEN } })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("SVC_API_TOKEN: no token has such characters"),
    });
});
