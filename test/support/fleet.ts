// A small organization for the tests of commands: two teams, three users, three hosts, one enroll secret.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saveContext } from "../../src/cli/contexts.ts";
import { ADMIN, type StartOptions, startApp, type TestApp } from "./app.ts";
import { newHome, type RunOptions, type RunResult, runCli, sendInto } from "./cli.ts";
import { makeHost, makeInventory, makeSession, makeSoftware, makeUser } from "./make.ts";

export interface Fleet {
  readonly app: TestApp;
  readonly home: string;
  /** A folder with the files that examples name. */
  readonly files: string;
  readonly teamId: number;
  run(argv: string[], options?: RunOptions): Promise<RunResult>;
}

export async function startFleet(options: StartOptions = {}): Promise<Fleet> {
  const app = await startApp(options);
  const home = await newHome();
  const files = join(home, "files");
  await mkdir(files);
  const texts = {
    "password.txt": "A-good-Password-77\n",
    "old.txt": `${ADMIN.password}\n`,
    "new.txt": "Another-Password-78\n",
    "token.txt": `${app.token}\n`,
    "secrets.txt": "first-secret\nsecond-secret\n",
    "agent-options.yml": "config:\n  options:\n    pack_delimiter: /\n",
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(files, name), text);

  let teamId = 0;
  if (options.tier !== "free") {
    for (const name of ["Workstations", "Lab"]) {
      const reply = await app.post("/teams", { name, secrets: [{ secret: `secret-of-${name}` }] });
      const { team } = (await reply.json()) as { team: { id: number } };
      if (name === "Workstations") teamId = team.id;
    }
    await makeUser(app, { teams: [{ id: teamId, role: "observer" }] }, { email: "member@example.com" });
  }
  const observer = await makeUser(app, "observer", { email: "observer@example.com", name: "Olga Observer" });
  await makeSession(app, observer.id);
  await app.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "example-secret" }] } });

  const now = app.clock.iso();
  const mac = await makeHost(
    app,
    { hostname: "mac-1.example.com", platform: "darwin", os_version: "macOS 15.1", team_id: teamId || null },
    { seen: now },
  );
  await makeHost(app, { hostname: "linux-1.example.com", platform: "ubuntu" }, { seen: now });
  await makeHost(app, { hostname: "win-1.example.com", platform: "windows" }, { seen: "2026-02-01T00:00:00.000Z" });
  const firefox = await makeSoftware(app, "Firefox", "133.0");
  await makeInventory(app, mac.id, [firefox]);

  const env = { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), SVC_KEYRING: "off" };
  const serverUrl = "http://127.0.0.1:8412";
  await saveContext({ name: "local", serverUrl, token: app.token, email: ADMIN.email, makeCurrent: true }, { env });
  await saveContext({ name: "staging", serverUrl: "https://staging.example.com", makeCurrent: false }, { env });
  return {
    app,
    home,
    files,
    teamId,
    run: (argv, more = {}) => runCli(argv, { home, send: sendInto(app), ...more }),
  };
}
