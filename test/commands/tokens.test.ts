import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seconds } from "../../src/server/platform/core/clock.ts";
import { ADMIN } from "../support/app.ts";
import { startFleet } from "../support/fleet.ts";

const json = ({ stdout }: { stdout: string }) => JSON.parse(stdout);

describe("tokens", () => {
  it("are created and printed once on stdout, listed without the token itself, used, and deleted by name", async () => {
    const fleet = await startFleet();
    const made = await fleet.run([
      "tokens",
      "create",
      "--name",
      "ci",
      "--expires-in",
      "7d",
      "--endpoints",
      "GET /hosts",
    ]);
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/) });
    expect(made.stderr).not.toContain(made.stdout.trim());
    const env = { SVC_API_TOKEN: made.stdout.trim() };
    expect((await fleet.run(["hosts", "list"], { env })).exitCode).toBe(0);
    const refused = await fleet.run(["hosts", "count"], { env });
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain("limited to GET /hosts");
    const listed = await fleet.run(["tokens", "list", "-o", "json"]);
    expect(json(listed)).toMatchObject([{ name: "ci", endpoints: ["GET /hosts"] }]);
    expect(listed.stdout).not.toContain(made.stdout.trim());
    expect((await fleet.run(["tokens", "list"])).stdout).toContain("GET /hosts");
    expect((await fleet.run(["tokens", "delete", "ci"])).exitCode).toBe(2);
    expect((await fleet.run(["tokens", "delete", "ci", "--dry-run"])).exitCode).toBe(0);
    expect((await fleet.run(["tokens", "delete", "ci", "--yes"])).exitCode).toBe(0);
    expect((await fleet.run(["hosts", "list"], { env })).exitCode).toBe(4);
    const none = await fleet.run(["tokens", "delete", `x${made.stdout.trim()}`, "--yes"]);
    expect(none.exitCode).toBe(3);
    expect(none.stderr).not.toContain(made.stdout.trim());
  });

  it("show when they were last used, and never if they have not been used", async () => {
    const fleet = await startFleet();
    const made = await fleet.run(["tokens", "create", "--name", "ci", "--expires-in", "60d"]);
    const lastUsed = async () => json(await fleet.run(["tokens", "list", "-o", "json"]))[0].accessed_at;
    fleet.app.clock.advance(seconds(20));
    expect(await lastUsed()).toBeNull();
    const now = new Date(fleet.app.clock.iso());
    const shown = await fleet.run(["tokens", "list"], { tty: { stdout: true }, now });
    expect(shown.stdout).toMatch(/ci +never +in 2mo/);
    await fleet.run(["hosts", "count"], { env: { SVC_API_TOKEN: made.stdout.trim() } });
    expect(await lastUsed()).toBe(fleet.app.clock.iso());
  });

  it("sign in from stdin, including limited ones", async () => {
    const fleet = await startFleet();
    const { token } = json(
      await fleet.run(["tokens", "create", "--name", "box", "--endpoints", "GET /hosts", "-o", "json"]),
    );
    const login = ["login", "--context", "box", "--server-url", "http://127.0.0.1:8412", "--token-stdin"];
    expect((await fleet.run(login, { stdin: token })).exitCode).toBe(0);
    expect(json(await fleet.run(["whoami", "-o", "json"]))).toMatchObject({ email: ADMIN.email, context: "box" });
  });

  it("are not created in a dry run, or with wrong flags", async () => {
    const fleet = await startFleet();
    expect((await fleet.run(["tokens", "create", "--name", "x", "--dry-run"])).stdout).toContain("would create");
    expect((await fleet.run(["tokens", "create"])).exitCode).toBe(2);
    expect((await fleet.run(["tokens", "create", "--name", "x", "--expires-in", "9y"])).exitCode).toBe(1);
    expect(json(await fleet.run(["tokens", "list", "-o", "json"]))).toEqual([]);
  });
});

describe("sessions list", () => {
  it("shows tokens by name, and marks the current session", async () => {
    const fleet = await startFleet();
    await fleet.run(["tokens", "create", "--name", "ci"]);
    const { stdout } = await fleet.run(["sessions", "list"]);
    expect(stdout).toContain("token ci");
    expect(stdout.match(/this one/g)).toHaveLength(1);
  });
});

describe("invites", () => {
  it("print their link once, and are shown, changed and accepted with it", async () => {
    const fleet = await startFleet();
    const argv = ["invites", "create", "--name", "Ina", "--email", "ina@example.com", "--teams", "Lab:observer"];
    expect((await fleet.run([...argv, "--dry-run"])).stdout).toContain("would invite ina@example.com");
    const { stdout: link, stderr } = await fleet.run(argv);
    expect(link).toMatch(/^https:\/\/svc\.example\.com\/login\/invites\/[\w-]{43}\n$/);
    expect(stderr).toContain("sends no mail");
    expect((await fleet.run(["invites", "list"])).stdout).toContain("observer (Lab)");
    expect((await fleet.run(["invites", "update", "INA@example.com", "--name", "Ina B."])).exitCode).toBe(0);
    const env = { SVC_API_TOKEN: "" };
    const shown = await fleet.run(["invites", "show", link.trim(), "-o", "json"], { env });
    expect(json(shown)).toMatchObject({ name: "Ina B.", email: "ina@example.com" });
    const accept = ["invites", "accept", "--token-stdin", "--password-file", join(fleet.files, "password.txt")];
    const accepted = await fleet.run(accept, { stdin: link, env });
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    const login = ["login", "--context", "ina", "--server-url", "http://127.0.0.1:8412"];
    const signIn = [...login, "--email", "ina@example.com", "--password-file", join(fleet.files, "password.txt")];
    expect((await fleet.run(signIn)).exitCode).toBe(0);
    expect((await fleet.run(["invites", "show", link.trim()])).exitCode).toBe(3);
  });

  it("are withdrawn by email or id", async () => {
    const fleet = await startFleet();
    await fleet.run(["invites", "create", "--name", "A", "--email", "a@example.com", "--global-role", "observer"]);
    expect((await fleet.run(["invites", "delete", "a@example.com"])).exitCode).toBe(2);
    expect((await fleet.run(["invites", "delete", "1", "--yes"])).exitCode).toBe(0);
    expect((await fleet.run(["invites", "delete", "1", "--yes"])).exitCode).toBe(3);
  });
});

describe("users apply-roles", () => {
  it("accepts roles at the top level, under roles, or under spec", async () => {
    const fleet = await startFleet();
    const file = join(fleet.files, "given.json");
    const roles = (role: string) => ({ "observer@example.com": { global_role: role } });
    for (const [role, body] of [
      ["maintainer", roles("maintainer")],
      ["observer", { roles: roles("observer") }],
      ["technician", { spec: { roles: roles("technician") } }],
    ] as const) {
      await writeFile(file, JSON.stringify(body));
      const dry = await fleet.run(["users", "apply-roles", "-f", file, "--dry-run"]);
      expect(dry.stdout).toContain(role);
      expect((await fleet.run(["users", "apply-roles", "-f", file])).exitCode).toBe(0);
      expect(json(await fleet.run(["users", "get", "observer@example.com", "-o", "json"]))).toMatchObject({
        global_role: role,
      });
    }
    for (const [text, message] of [
      ['["a"]', "--file: must be a map of emails to roles"],
      ["", "--file: must be a map of emails to roles"],
      ["{a@example.com: 7}", "--file: a@example.com: must be an object"],
      ["{a@example.com: {teams: [{role: observer}]}}", "--file: a@example.com.teams.0.team: is required"],
    ] as const) {
      await writeFile(file, text);
      const { exitCode, stderr } = await fleet.run(["users", "apply-roles", "-f", file]);
      expect([exitCode, stderr.split("\n")[0]]).toEqual([2, `Error: ${message}`]);
    }
  });
});

describe("can-i", () => {
  it("knows endpoints, by their names or with values in them", async () => {
    const fleet = await startFleet();
    for (const asked of ["POST /hosts/:id/wipe", "post /hosts/7/wipe", "GET /api/v1/svc/hosts/count", "GET /me"])
      expect(await fleet.run(["can-i", asked]), asked).toMatchObject({ exitCode: 0, stdout: "yes\n" });
    const create = ["users", "create", "--api-only", "--name", "R", "--email", "r@example.com", "-o", "json"];
    const { token } = json(await fleet.run([...create, "--teams", "Workstations:maintainer"]));
    const env = { SVC_API_TOKEN: token };
    expect(await fleet.run(["can-i", "POST /hosts/:id/wipe"], { env })).toMatchObject({
      exitCode: 0,
      stdout: "yes, on Workstations\n",
    });
    expect((await fleet.run(["can-i", "POST /hosts/1/wipe", "--team", "Workstations"], { env })).exitCode).toBe(0);
    expect((await fleet.run(["can-i", "PATCH /config"], { env })).exitCode).toBe(4);
    const global = await fleet.run(["can-i", "GET /activities"], { env });
    expect(global).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("global role") });
    const typo = await fleet.run(["can-i", "GET /hosst"]);
    expect(typo).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Did you mean GET /hosts?") });
  });

  it("knows the limits of the token that is used", async () => {
    const fleet = await startFleet();
    const { stdout } = await fleet.run(["tokens", "create", "--name", "ci", "--endpoints", "GET /hosts"]);
    const env = { SVC_API_TOKEN: stdout.trim() };
    expect((await fleet.run(["can-i", "GET /hosts"], { env })).exitCode).toBe(0);
    const refused = await fleet.run(["can-i", "GET /hosts/count"], { env });
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("limited to other endpoints") });
  });
});
