// A small organization for the tests of commands: two teams, three users, three hosts, one enroll secret.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saveContext } from "../../src/cli/auth/contexts.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { ADMIN, type StartOptions, startApp, type TestApp } from "./app.ts";
import { newHome, type RunOptions, type RunResult, runCli, sendInto } from "./cli.ts";
import {
  makeCarve,
  makeHost,
  makeInventory,
  makePolicy,
  makeResults,
  makeSession,
  makeSoftware,
  makeUser,
} from "./make.ts";

export interface Fleet {
  readonly app: TestApp;
  readonly home: string;
  /** A folder with the files that examples use. */
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
    "labels.yml":
      "- name: Portables\n  query: SELECT 1 FROM battery\n  platform: darwin\n" +
      "- name: Loaners\n  label_membership_type: manual\n  hosts: [mac-1.example.com]\n",
    "policies.yml":
      "- name: Disk encrypted\n  query: SELECT 1 FROM disk_encryption WHERE encrypted = 1\n" +
      "- name: Guest account off\n  team: Workstations\n  query: SELECT 1\n  platform: darwin\n",
    "queries.yml":
      "- name: Local users\n  query: SELECT username FROM users\n  interval: 600\n" +
      "- name: Kernel modules\n  team: Workstations\n  query: SELECT name FROM kernel_modules\n  platform: linux\n",
    "teams.yml":
      "- name: Lab\n  host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 30}\n- name: Kiosks\n",
    "packs.yml":
      "- name: Compliance\n  targets: {labels: [All Hosts]}\n  queries:\n    - {query: USB devices, interval: 300}\n",
    "roles.yml":
      "member@example.com: {teams: [{team: Lab, role: maintainer}]}\nobserver@example.com: {global_role: maintainer}\n",
    "secrets.txt": "first-secret\nsecond-secret\n",
    "secret.txt": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n",
    "headers.txt": "X-Api-Key: a-key\nX-Source: svc\n",
    "no-team.yml": "webhook_settings:\n  failing_policies_webhook: {host_batch_size: 100}\n",
    "default.yml":
      "org_settings:\n  org_info: {org_name: Example}\ncontrols: {}\nlabels:\n  - {name: Portables, query: SELECT 1 FROM battery}\n",
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
  const macos = await app.store.osVersions.insert({ name: "macOS", version: "15.1", platform: "darwin" });
  const system = { platform: "darwin", os_version: "macOS 15.1", os_version_id: macos.id };
  const mac = await makeHost(app, { hostname: "mac-1.example.com", ...system, team_id: teamId || null }, { seen: now });
  await makeHost(app, { hostname: "linux-1.example.com", platform: "ubuntu" }, { seen: now });
  await makeHost(app, { hostname: "win-1.example.com", platform: "windows" }, { seen: "2026-02-01T00:00:00.000Z" });
  const firefox = await makeSoftware(app, "Firefox", "133.0");
  await makeInventory(app, mac.id, [firefox]);
  await app.services.running.of(softwareCounts).flush();
  await makeCarve(app, mac.id, Buffer.from("an archive of 25 bytes ..."));

  await app.post("/labels", { name: "Loaners", hosts: ["linux-1.example.com"] });

  const encrypted = await makePolicy(app, { name: "Disk encrypted", platform: "darwin,linux" });
  if (teamId !== 0) await makePolicy(app, { name: "Firewall on", scope: "team", team_id: teamId });
  await makeResults(app, mac.id, { failing: [encrypted] });
  await app.store.policies.update({ where: eq("id", encrypted.id), set: { failing_host_count: 1 } });

  await makeSavedQueries(app, teamId, mac.id);

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

/** Two global queries, one of the team, a report, and a pack with one of them. */
async function makeSavedQueries(app: TestApp, teamId: number, hostId: number): Promise<void> {
  const { store, clock } = app;
  const at = { created_at: clock.iso(), updated_at: clock.iso() };
  const users = await store.queries.insert({
    ...at,
    name: "Local users",
    query: "SELECT uid, username FROM users",
    interval: 3600,
  });
  const usb = await store.queries.insert({ ...at, name: "USB devices", query: "SELECT * FROM usb_devices" });
  if (teamId !== 0)
    await store.queries.insert({ ...at, name: "Team users", query: "SELECT 1", interval: 60, team_id: teamId });
  const rows = [{ uid: "501", username: "ada" }];
  const answer = { query_id: users.id, host_id: hostId, last_fetched: clock.iso(), row_count: 1, rows };
  await store.queryResults.insert(answer);
  const pack = await store.packs.insert({ ...at, name: "Compliance" });
  const entry = { ...at, pack_id: pack.id, query_id: usb.id, name: usb.name, interval: 300 };
  await store.scheduledQueries.insert(entry);
}
