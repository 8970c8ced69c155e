// --dry-run ends like the real command, by the server's decision, and leaves no trace.
import { expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";
import { makeUser } from "../support/make.ts";

it("reports names that are taken and insufficient roles, with the exit codes of the real commands", async () => {
  const fleet = await startFleet();
  const observer = { env: { SVC_API_TOKEN: (await makeUser(fleet.app, "observer")).token } };
  const [team] = await fleet.app.store.teams.list();
  const cases: [string[], object][] = [
    [["teams", "create", "--name", team!.name], {}],
    [["teams", "create", "--name", "Fresh"], observer],
    [["labels", "delete", "macOS", "--yes"], {}],
    [["hosts", "lock", "mac-1.example.com", "--yes"], {}],
    [["hosts", "delete", "mac-1.example.com", "--yes"], observer],
    [["users", "create", "--name", "A", "--email", "ada@example.com", "--global-role", "observer", "--api-only"], {}],
  ];
  for (const [argv, options] of cases) {
    const dry = await fleet.run([...argv, "--dry-run"], options);
    const real = await fleet.run(argv, options);
    expect([argv.join(" "), dry.exitCode], dry.stdout + dry.stderr).toEqual([argv.join(" "), real.exitCode]);
    expect(dry.exitCode, argv.join(" ")).not.toBe(0);
    expect(dry.exitCode, argv.join(" ")).not.toBe(2);
    expect(dry.stderr).toBe(real.stderr);
  }
});

it("lists the hosts that would be deleted, and keeps them", async () => {
  const fleet = await startFleet();
  const before = await fleet.app.store.hosts.count();
  const { stdout, exitCode } = await fleet.run([
    "hosts",
    "delete",
    "mac-1.example.com",
    "linux-1.example.com",
    "--dry-run",
    "-o",
    "json",
  ]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ dry_run: true, action: "delete 2 hosts" });
  expect(stdout).toContain("mac-1.example.com");
  expect(await fleet.app.store.hosts.count()).toBe(before);
});

it("sends no request that an older server would execute", async () => {
  const sent: string[] = [];
  const env = { SVC_SERVER_URL: "https://svc.example.com", SVC_API_TOKEN: "t" };
  const { stdout, stderr, exitCode } = await runCli(["teams:create", "--name", "Fresh", "--dry-run"], {
    env,
    send: async (url, init) => {
      sent.push(`${init.method} ${new URL(url).pathname}`);
      return { status: 200, headers: new Headers({ "x-svc-version": "0.0.1" }), text: async () => "{}", body: null };
    },
  });
  expect(sent, stderr).toEqual(["GET /api/v1/svc/version"]);
  expect([exitCode, stdout]).toEqual([0, 'would create team Fresh\n  name: "Fresh"\n']);
  expect(stderr).toContain("only the request was checked: the server does not support dry runs");
});
