// Runs each shell command of the README, the tutorial and the API guide with the built binary, in order, and checks its
// output. A command that is added to a page needs a line here.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { hasBoxes, writeBox } from "../support/box.ts";
import { freePort } from "../support/free-port.ts";
import { freshDatabase } from "../support/postgres.ts";
import { commandsOn, type Step, startWalk } from "../support/walk.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

const readme: readonly Step[] = [
  { command: "npm install && npm start", isServing: true, prints: /^password: \S+$[\s\S]*License: development/m },
  { command: "npx svc agent simulate --hosts 25", isServing: true },
  { command: "npx svc hosts list", isRepeated: true, prints: /ubuntu-00021 +online +ubuntu/ },
  {
    command: "npx svc hosts list --status online --query mac -o csv",
    isRepeated: true,
    prints: /^id,[\s\S]*Mac \d+,online,darwin,macOS/m,
  },
  { command: "npx svc hosts get ubuntu-00021", prints: /os version +Ubuntu/ },
  {
    command: 'npx svc query "SELECT version FROM os_version" --where "platform = darwin"',
    prints: /"version":"1\d\.[\s\S]* answered, 0 error, 0 offline, 0 timed out/,
  },
  { command: "npx svc --help", prints: /TOPICS[\s\S]*COMMANDS/ },
  { command: "npm install --global .", skip: ".ci/pack.mjs installs the package globally" },
  {
    command: `svc hosts list --where 'software.name ~ "chrome" and not label in (macOS)'`,
    prints: /online/,
  },
  { command: "svc hosts report -o hosts.csv --columns hostname,os_version,primary_ip", prints: /bytes in hosts.csv/ },
  {
    command: `svc query "SELECT name, bundle_short_version FROM apps WHERE name LIKE '%Chrome%'" --labels macOS`,
    prints: /Chrome[\s\S]* answered, 0 error, 0 offline, 0 timed out/,
  },
  {
    command: 'svc queries create --name "Users" --query "SELECT username, uid FROM users" --interval 3600',
    prints: /query Users \(\d+\)/,
  },
  {
    command: 'svc labels create --name "Low on disk" --where "gigs_disk_space_available < 10"',
    prints: /created label Low on disk/,
  },
  {
    command:
      'svc policies create --name "Disk encrypted" --platform darwin --query "SELECT 1 FROM disk_encryption WHERE encrypted = 1"',
    prints: /created policy Disk encrypted/,
  },
  { command: 'svc policies hosts "Disk encrypted" --failing', prints: /\S/ },
  { command: 'svc carves start ubuntu-00021 "/etc/hosts" --wait', prints: /\/etc\/hosts +complete/ },
  { command: "svc teams create --name Kiosks", prints: /created team Kiosks/ },
  { command: "svc hosts transfer ubuntu-00021 --to Kiosks", prints: /moved ubuntu-00021 to Kiosks/ },
  { command: "svc hosts delete ubuntu-00021 --dry-run", prints: /would delete/ },
  {
    command: "svc invites create --email grace@example.com --name Grace --global-role maintainer",
    prints: /^http:\/\/127\.0\.0\.1:\d+\/login\/invites\/\S+$/m,
  },
  { command: 'svc tokens create --name ci --expires-in 90d --endpoints "GET /hosts"', prints: /^[\w-]{40,}$/m },
  { command: "svc can-i hosts:wipe --team Kiosks", prints: /^yes$/m },
  { command: "svc activities list --limit 5", prints: /created_api_token/ },
  { command: "svc audit verify", prints: /^ok +true$/m },
  { command: "svc export --dir configuration", prints: /files in configuration/ },
  { command: "svc apply --schema > svc.schema.json" },
  {
    command: "svc serve --data-dir svc-data --tls-self-signed --server-url https://localhost:8412",
    stopsOthers: true,
    isServing: true,
    prints: /svc login --server-url \S+ --ca-file \S+svc-data\/tls\/cert\.pem[\s\S]*serving/,
  },
  { command: 'echo "Pw1-$(openssl rand -hex 12)" > password.txt && chmod 600 password.txt' },
  {
    command:
      "svc setup --server-url https://localhost:8412 --ca-file svc-data/tls/cert.pem --name Ada --email ada@example.com --org-name Example --password-file password.txt",
    prints: /ada@example\.com/,
  },
  { command: "svc status", prints: /health +ok[\s\S]*license +free/ },
  {
    command:
      "svc login --server-url https://localhost:8412 --ca-file svc-data/tls/cert.pem --email ada@example.com --password-file password.txt",
    prints: /ada@example\.com/,
  },
  { command: "svc config certificate > svc.pem" },
  { command: "svc enroll-secrets add", prints: /secret/ },
  { command: "svc enroll-secrets list --fields secret --no-header > enroll_secret" },
  { command: "svc agent flags --server-certs /etc/osquery/svc.pem > osquery.flags" },
  { command: "osqueryd --flagfile /etc/osquery/osquery.flags", skip: "osqueryd is not installed here" },
  { command: "svc agent enroll-command --platform linux", prints: /^curl -fsSLk --pinnedpubkey \S+ \S+ \| sh/m },
  { command: "svc db backup svc-backup.gz --data-dir svc-data", stopsOthers: true, prints: /svc-backup\.gz/ },
  { command: "svc db copy --from svc-data --to postgres://svc@db/svc", prints: /tables copied and verified/ },
  {
    command:
      "svc serve --data-dir svc-data --tls-self-signed --server-url https://localhost:8412 --database-url postgres://svc@db/svc",
    isServing: true,
    prints: /serving/,
  },
  { command: "svc license keygen", stopsOthers: true, prints: /^SVC_LICENSE_PUBLIC_KEY=\S+$/m },
  {
    command:
      "svc license issue --private-key-file license-private.pem --organization 'Example Ltd' --devices 500 --expires-in 365d > license.txt",
    prints: /issued to Example Ltd for 500 hosts/,
  },
  {
    command: "svc license verify license.txt --public-key license-public.pem",
    prints: /organization +Example Ltd[\s\S]*valid +true/,
  },
  {
    command:
      'SVC_LICENSE_KEY="$(cat license.txt)" SVC_LICENSE_PUBLIC_KEY="$(cat license-public.pem)" svc serve --data-dir svc-data --tls-self-signed --server-url https://localhost:8412',
    isServing: true,
    prints: /"tier":"premium"/,
  },
  { command: "svc license show", prints: /tier +premium/ },
];

/** Changes this machine, so it runs in a machine of its own, as do all scripts. */
const ENROLL = 'sh -c "$(svc agent enroll-command --platform linux)"';
const canChangeMachine = hasBoxes();

/** Steps that change a machine. */
const onMachine = (steps: readonly Step[]): Step[] =>
  canChangeMachine ? [...steps] : steps.map((step) => ({ ...step, skip: "needs root on Linux" }));

const tutorial: readonly Step[] = [
  {
    command: "svc serve --quickstart --data-dir tutorial-data --outbound-allow 127.0.0.1",
    isServing: true,
    prints: /^password: \S+$[\s\S]*serving/m,
  },
  { command: "svc agent simulate --hosts 10", isServing: true },
  {
    command: "svc hosts list",
    isRepeated: true,
    prints: /debian-00005 +online[\s\S]*debian-00004 +online|debian-00004 +online[\s\S]*debian-00005 +online/,
  },
  { command: "svc hosts get debian-00005", isRepeated: true, prints: /os version +Debian GNU\/Linux 11/ },
  {
    command: 'svc query "SELECT name, version, major FROM os_version" --where "platform = linux"',
    prints: /bullseye[\s\S]*3 answered, 0 error, 0 offline, 0 timed out/,
  },
  {
    command: 'svc labels create --name "Linux servers" --where "platform = linux"',
    prints: /created label Linux servers \(\d+\), 3 hosts/,
  },
  { command: "svc hosts list --where \"label = 'Linux servers'\"", prints: /rhel-00009/ },
  {
    command: "svc webhooks listen --port 9000 -o ndjson",
    isServing: true,
    prints: /listening on http:\/\/127\.0\.0\.1:\d+/,
  },
  {
    command:
      'svc policies create --name "Recent Linux" --platform linux --query "SELECT 1 FROM os_version WHERE major >= 24" --resolution "Upgrade the operating system."',
    prints: /created policy Recent Linux \(1\)/,
  },
  { command: "svc policies list", isRepeated: true, prints: /Recent Linux +linux +.*\b[1-3]\b/ },
  { command: 'svc policies hosts "Recent Linux" --failing', isRepeated: true, prints: /debian-00005/ },
  {
    command:
      "svc config set webhook_settings.failing_policies_webhook.destination_url=http://127.0.0.1:9000/ webhook_settings.failing_policies_webhook.enable_failing_policies_webhook=true 'webhook_settings.failing_policies_webhook.policy_ids=[1]'",
    prints: /changed webhook_settings/,
  },
  { command: 'svc policies reset "Recent Linux"', prints: /reset the automations of policy Recent Linux/ },
  { command: "svc jobs run automations --wait", prints: /automations is done/ },
  { command: "svc webhooks deliveries list", isRepeated: true, prints: /delivered/ },
  {
    command: 'svc policies update "Recent Linux" --query "SELECT 1 FROM os_version WHERE major >= 8"',
    prints: /Recent Linux/,
  },
  { command: "svc activities list --limit 3", prints: /edited_policy/ },
  {
    command: "svc serve --quickstart --data-dir machine-data --tls-self-signed --server-url https://localhost:8412",
    stopsOthers: true,
    isServing: true,
    prints: /^password: \S+$[\s\S]*serving/m,
  },
  {
    command: "svc agent enroll-command --platform linux",
    prints: /^curl -fsSLk --pinnedpubkey \S+ https:\/\/localhost:\d+\/enroll\/enroll\.sh \| sh -s -- --server-url/m,
  },
  ...onMachine([
    { command: ENROLL, isServing: true, prints: /svc-agent\.service: created[\s\S]*info: enrolled for queries/ },
    { command: "svc hosts list", isRepeated: true, prints: /\bonline\b/ },
    { command: 'svc hosts get "$(hostname)"', isRepeated: true, prints: /os version +\S/ },
    {
      command: 'svc query "SELECT name, version FROM os_version" --hosts "$(hostname)"',
      prints: /1 answered, 0 error, 0 offline, 0 timed out/,
    },
    {
      command:
        'svc policies create --name "Sign-in notice" --platform linux --query "SELECT 1 FROM file WHERE path = \'/etc/issue.d/svc.issue\' AND size > 0" --resolution "Run the script notice.sh."',
      prints: /created policy Sign-in notice \(1\)/,
    },
    { command: 'svc policies hosts "Sign-in notice" --failing', isRepeated: true, prints: /\bonline\b/ },
    {
      command:
        "printf '%s\\n' '#!/bin/sh' 'mkdir -p /etc/issue.d' 'echo \"Property of Example Ltd.\" > /etc/issue.d/svc.issue' 'cat /etc/issue.d/svc.issue' > notice.sh",
    },
    {
      command: 'svc scripts run "$(hostname)" --file notice.sh --wait',
      prints: /exit code +0\n(?:.*\n)*Property of Example Ltd\.$/m,
    },
    { command: 'svc hosts refetch "$(hostname)"', prints: /\S/ },
    { command: "svc policies list", isRepeated: true, prints: /Sign-in notice +linux +false +1 +0 / },
    { command: 'svc hosts lock "$(hostname)" --yes --wait', prints: /done +locked/ },
    { command: 'svc hosts get "$(hostname)"', prints: /device +locked/ },
    { command: 'svc hosts unlock "$(hostname)" --wait', prints: /done +unlocked/ },
  ]),
];

/** Replaces every port of the page by one of this run, and makes simulated hosts check in ten times as often. */
async function walk(page: string, steps: readonly Step[], database?: string): Promise<string> {
  expect(commandsOn(page)).toEqual(steps.map(({ command }) => command));
  const [port, hooks] = [await freePort(), await freePort()];
  const replaced = (command: string) =>
    command
      .replaceAll("8412", String(port))
      .replaceAll("9000", String(hooks))
      .replace("postgres://svc@db/svc", database ?? "")
      .replace(/agent simulate .*/, "$& --scale 0.1")
      .replace(ENROLL, 'box "$(svc agent enroll-command --platform linux)"');
  const { folder, take } = startWalk(replaced, { SVC_PORT: String(port), SVC_LOG_FORMAT: "json" });
  writeBox(join(folder, ".bin", "box"), join(folder, ".box"));
  // Reports all failures at once, so that all of a page can be corrected together.
  const failed: string[] = [];
  for (const step of steps) await take(step).catch((error: Error) => failed.push(error.message));
  expect(failed).toEqual([]);
  return folder;
}

it("README.md: every command works, in its order", async () => {
  const database = await freshDatabase();
  const folder = await walk("README.md", readme, database.url);
  const text = (name: string) => readFileSync(join(folder, name), "utf8");
  expect(text("hosts.csv").trim().split("\n")).toHaveLength(26);
  expect(text("svc.pem").trim()).toBe(text("svc-data/tls/cert.pem").trim());
  expect(text("enroll_secret")).toMatch(/^\S{20,}\n$/);
  expect(text("osquery.flags")).toMatch(/^--tls_hostname=localhost:\d+\n--tls_server_certs=\/etc\/osquery\/svc\.pem\n/);
  expect(JSON.parse(text("svc.schema.json"))).toHaveProperty("$schema");
  await database.drop();
}, 600_000);

it("docs/tutorial.md: every command works, in its order", async () => {
  await walk("docs/tutorial.md", tutorial);
}, 600_000);

/** The output of each command of docs/api.md, in order: they share one shell, whose variables they set. */
const api: readonly RegExp[] = [
  /^$/,
  /^$/,
  /^"admin@example\.com"$/,
  /^"\d{4}-\d\d-\d\dT/,
  /"has_next_results": true,\s+"has_previous_results": false/,
  /^[1-9]\d*$/,
  /^[1-9]\d*$/,
  /^10$/,
  /^"Batteries"$/,
  /^"Example"$/,
  /^"Resource Not Found"$/,
  /"name": "name",\s+"reason": /,
  /^id: \d+\n[\s\S]*event: /m,
  /^$/,
  /event: result\n[\s\S]*"version":"1\d\./,
];

const hasTools = ["curl", "jq"].every((tool) => spawnSync(tool, ["--version"]).status === 0);

it.skipIf(!hasTools)(
  "docs/api.md: every command works, in its order",
  async () => {
    const port = await freePort();
    const { folder, take } = startWalk((command) => command, { SVC_PORT: String(port), SVC_LOG_FORMAT: "json" });
    const serve = "svc serve --quickstart > output.txt";
    await take({ command: serve, isServing: true, prints: /"msg":"serving"/ });
    await take({ command: "svc agent simulate --hosts 10 --scale 0.1", isServing: true });
    await take({ command: "svc hosts count --status online", isRepeated: true, prints: /\b10\b/ });
    const [, password] = /^password: (\S+)$/m.exec(readFileSync(join(folder, "output.txt"), "utf8"))!;
    const commands = commandsOn("docs/api.md").map((command) => command.replaceAll("8412", String(port)));
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", commands.join("\necho @@@\n")], {
      env: { PATH: process.env.PATH, PASSWORD: password },
      encoding: "utf8",
    });
    const printed = stdout.split("@@@\n").map((text) => text.trim());
    expect(stderr).toBe("");
    expect(printed).toEqual(api.map((pattern) => expect.stringMatching(pattern)));
  },
  600_000,
);
