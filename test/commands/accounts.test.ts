import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Unreachable } from "../../src/client/errors.ts";
import { ADMIN } from "../support/app.ts";
import { startFleet } from "../support/fleet.ts";

const json = ({ stdout }: { stdout: string }) => JSON.parse(stdout);

describe("signing in and out", () => {
  it("saves a context that later commands use, and logout deletes its token", async () => {
    const fleet = await startFleet();
    await fleet.run(["context", "remove", "local", "--yes"]);
    expect((await fleet.run(["whoami"])).exitCode).toBe(4);
    const login = await fleet.run(["login"], { tty: true, answers: [ADMIN.email, ADMIN.password] });
    expect(login).toMatchObject({ exitCode: 0, stdout: "", asked: ["Email", "Password"] });
    const me = json(await fleet.run(["whoami", "-o", "json"]));
    expect(me).toMatchObject({ email: ADMIN.email, context: "local" });
    expect((await fleet.run(["logout"])).exitCode).toBe(0);
    expect((await fleet.run(["whoami"])).exitCode).toBe(4);
    expect(await readFile(join(fleet.home, ".config", "svc", "tokens.json"), "utf8")).toBe("{}\n");
  });

  it("keeps the token if the server is down, and names the command that deletes it", async () => {
    const fleet = await startFleet();
    const { exitCode, stderr } = await fleet.run(["logout", "--context", "local"], {
      send: () => Promise.reject(new Unreachable("http://127.0.0.1:8412", "cannot connect", "ECONNREFUSED")),
    });
    expect(exitCode).toBe(8);
    expect(stderr).toContain("`svc context remove local` deletes the context and its token here.");
    expect((await fleet.run(["whoami"])).exitCode).toBe(0);
  });

  it("distinguishes a wrong password from a missing sign-in", async () => {
    const fleet = await startFleet();
    const { exitCode, stderr } = await fleet.run(["login", "--email", ADMIN.email, "--password-stdin"], {
      stdin: "wrong",
    });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("does not accept this email and password");
    expect(stderr).not.toContain("wrong\n");
    expect((await fleet.run(["whoami"])).exitCode).toBe(0);
  });

  it("creates a context with a new name together with its server", async () => {
    const fleet = await startFleet();
    const argv = ["login", "--server-url", "http://svc.internal:8412", "--context", "other", "--token-stdin"];
    const { exitCode, stderr } = await fleet.run(argv, { stdin: fleet.app.token });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("plain HTTP");
    expect(json(await fleet.run(["context", "show", "-o", "json"]))).toMatchObject({
      name: "other",
      server_url: "http://svc.internal:8412",
    });
  });

  it("guides a user through a required new password", async () => {
    const fleet = await startFleet();
    const create = [
      "users",
      "create",
      "--name",
      "New",
      "--email",
      "new@example.com",
      "--global-role",
      "observer",
      "--password-stdin",
    ];
    await fleet.run(create, { stdin: "First-Password-12" });
    const login = await fleet.run(["login", "--email", "new@example.com", "--password-stdin"], {
      stdin: "First-Password-12",
    });
    expect(login.stderr).toContain("svc users password --required");
    expect((await fleet.run(["hosts", "list"])).exitCode).toBe(4);
    const changed = await fleet.run(["users", "password", "--required"], {
      tty: true,
      answers: ["Second-Password-34", "Second-Password-34"],
    });
    expect(changed.exitCode).toBe(0);
    expect((await fleet.run(["hosts", "count"])).exitCode).toBe(0);
  });
});

describe("users", () => {
  it("are created with roles on teams by name, changed and deleted", async () => {
    const fleet = await startFleet();
    const created = json(
      await fleet.run(
        [
          "users",
          "create",
          "--name",
          "Tea",
          "--email",
          "tea@example.com",
          "--teams",
          "Workstations:maintainer,Lab:observer",
          "--password-stdin",
          "-o",
          "json",
        ],
        { stdin: "First-Password-12" },
      ),
    );
    expect(created.teams.map(({ name, role }: Record<string, string>) => `${name}:${role}`)).toEqual([
      "Workstations:maintainer",
      "Lab:observer",
    ]);
    const list = await fleet.run(["users", "list"]);
    expect(list.stdout).toContain("maintainer (Workstations), observer (Lab)");
    expect((await fleet.run(["users", "update", "tea@example.com", "--name", "Thea"])).exitCode).toBe(0);
    expect((await fleet.run(["users", "update", "Thea"])).exitCode).toBe(2);
    expect((await fleet.run(["users", "delete", "Thea"])).exitCode).toBe(2);
    expect((await fleet.run(["users", "delete", "Thea", "--yes"])).exitCode).toBe(0);
    expect((await fleet.run(["users", "get", "tea@example.com"])).exitCode).toBe(3);
  });

  it("print the token of an API-only user once, alone on stdout", async () => {
    const fleet = await startFleet();
    const { stdout, exitCode } = await fleet.run([
      "users",
      "create",
      "--name",
      "Bot",
      "--email",
      "bot@example.com",
      "--global-role",
      "observer",
      "--api-only",
    ]);
    expect(exitCode).toBe(0);
    expect(
      (await fleet.run(["whoami", "--fields", "email"], { env: { SVC_API_TOKEN: stdout.trim() } })).stdout,
    ).toContain("bot@example.com");
    // A user who may not list users still finds their own account, and no other.
    const bot = { env: { SVC_API_TOKEN: stdout.trim() } };
    expect((await fleet.run(["users", "get", "bot@example.com"], bot)).exitCode).toBe(0);
    expect((await fleet.run(["users", "get", "observer@example.com"], bot)).exitCode).toBe(4);
  });

  it("are validated but not stored in a dry run; secrets are not shown", async () => {
    const fleet = await startFleet();
    const argv = [
      "users",
      "create",
      "--name",
      "X",
      "--email",
      "x@example.com",
      "--global-role",
      "observer",
      "--password-stdin",
      "--dry-run",
    ];
    const { stdout, exitCode } = await fleet.run(argv, { stdin: "First-Password-12" });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("would create user x@example.com");
    expect(stdout).not.toContain("First-Password-12");
    expect((await fleet.run(["users", "get", "x@example.com"])).exitCode).toBe(3);
    const bad = await fleet.run(
      ["users", "create", "--name", " ", "--email", "x@example.com", "--password-stdin", "--dry-run"],
      { stdin: "p" },
    );
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr).toContain("name:");
  });

  it("take a body from a file; flags take precedence", async () => {
    const fleet = await startFleet();
    const file = join(fleet.home, "user.yml");
    await writeFile(
      file,
      "name: From File\nemail: file@example.com\npassword: First-Password-12\nglobal_role: observer\n",
    );
    const created = json(await fleet.run(["users", "create", "--input", file, "--name", "From Flag", "-o", "json"]));
    expect(created).toMatchObject({ name: "From Flag", email: "file@example.com" });
  });
});

describe("can-i", () => {
  it("reports by its exit code, team by team", async () => {
    const fleet = await startFleet();
    for (const action of ["hosts:delete", "hosts:wipe", "hosts:unlock"])
      expect(await fleet.run(["can-i", action])).toMatchObject({ exitCode: 0, stdout: "yes\n" });
    const token = {
      SVC_API_TOKEN: (
        await fleet.run([
          "users",
          "create",
          "--name",
          "B",
          "--email",
          "b@x.io",
          "--teams",
          "Lab:maintainer",
          "--api-only",
        ])
      ).stdout.trim(),
    };
    expect(await fleet.run(["can-i", "hosts:delete"], { env: token })).toMatchObject({
      exitCode: 0,
      stdout: "yes, on Lab\n",
    });
    expect((await fleet.run(["can-i", "hosts:delete", "--team", "Lab"], { env: token })).exitCode).toBe(0);
    expect((await fleet.run(["can-i", "config:write"], { env: token })).exitCode).toBe(4);
    const none = await fleet.run(["can-i", "hosts:delete", "--team", "0"], { env: token });
    expect([none.exitCode, none.stderr.includes("on objects without a team")]).toEqual([4, true]);
    expect(await fleet.run(["can-i", "hosts:delete", "--team", "0"])).toMatchObject({ exitCode: 0, stdout: "yes\n" });
    expect((await fleet.run(["can-i", "hosts:delte"])).stderr).toContain("Did you mean hosts:delete?");
  });
});

describe("sessions", () => {
  it("are ended one by one and all together", async () => {
    const fleet = await startFleet();
    const list = async () =>
      json(await fleet.run(["sessions", "list", "--user", "observer@example.com", "-o", "json"]));
    const [first] = await list();
    expect(await list()).toHaveLength(2);
    expect((await fleet.run(["sessions", "delete", String(first.session_id), "--yes"])).exitCode).toBe(0);
    expect(await list()).toHaveLength(1);
    expect((await fleet.run(["sessions", "delete", "--user", "observer@example.com"])).exitCode).toBe(2);
    expect((await fleet.run(["sessions", "delete", "--user", "observer@example.com", "--yes"])).exitCode).toBe(0);
    expect(await list()).toHaveLength(0);
  });
});
