// `npm run test:soak -- gitops [--configurations 500] [--changes 1000] [--seed N] [--store lowdb|postgres]`: generated
// configurations are applied, exported and planned with the command line. Then single fields are changed, and the plan
// must show these changes and no others.
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { pino } from "pino";
import { type ConfigurationState, configurationApi, type StateThing } from "../../src/api/edge/configuration.ts";
import { processIo } from "../../src/cli/io.ts";
import { main } from "../../src/cli/run/main.ts";
import { sourceConfig } from "../../src/cli/run/source-config.ts";
import { ApiClient } from "../../src/client/client.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import type { planJson } from "../../src/gitops/plan/render.ts";
import { startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { changeOne, configurations, environmentOf } from "../support/configurations.ts";
import { hostRow } from "../support/make.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";

const HOSTS = ["A-1", "B-2", "C 3"];
const root = fileURLToPath(new URL("../..", import.meta.url));
const isOurs = (file: string) => /^(apply|plan|export)\.ts$/.test(file);

type PlannedChanges = ReturnType<typeof planJson>;
type Svc = (argv: readonly string[], env: Record<string, string>) => Promise<string>;

export async function run(args: SoakArgs): Promise<string> {
  const count = Number(args.configurations ?? 500);
  const changes = Number(args.changes ?? 1000);
  const seed = Number(args.seed ?? Date.now() % 2 ** 31);
  const told: string[] = [];
  for (const store of args.store === undefined ? ["lowdb", "postgres"] : [args.store]) {
    const share = { count: Math.ceil(count / (args.store === undefined ? 2 : 1)), changes, total: count };
    told.push(`${store}: ${await onServer(store, share, seed)}`);
  }
  return `seed ${seed}: ${told.join("; ")}`;
}

interface Share {
  readonly count: number;
  readonly changes: number;
  readonly total: number;
}

async function onServer(store: string, { count, changes, total }: Share, seed: number): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "svc-gitops-"));
  const database = store === "postgres" ? await startPostgres() : null;
  const settings = Settings.parse({
    data_dir: join(dir, "data"),
    port: 0,
    dev_license: true,
    check_integrations: false,
    result_log: "none",
    status_log: "none",
    ...(database ? { database_url: database.url() } : {}),
  });
  const server = await startServer(settings, pino({ level: "silent" }));
  try {
    const token = await setUp(server.url);
    for (const hardware_serial of HOSTS)
      await server.services.store.hosts.insert(hostRow(server.services.clock.iso(), { hardware_serial }));
    const client = new ApiClient({ serverUrl: server.url, token });
    const { defaults } = await client.call(configurationApi.state, { body: {} });
    const svc = await commandLine(server.url, token, dir);
    const all = fc.sample(configurations({ defaults, hosts: HOSTS, authorities: true }), { numRuns: count, seed });
    let checked = 0;
    for (const [i, things] of all.entries()) {
      const fail = (why: string) => new Error(`seed ${seed}, ${store}, configuration ${i}: ${why}`);
      const environment = await roundTrip({ svc, dir, defaults, things, fail });
      for (; checked < Math.floor(((i + 1) * changes) / total); checked++)
        await oneChange({ svc, dir, defaults, things, fail }, environment, checked * 7919);
      if ((i + 1) % 25 === 0) console.error(`${store}: ${i + 1} of ${count} configurations, ${checked} changes`);
    }
    return `${count} configurations, ${checked} changes`;
  } finally {
    await server.stop();
    await database?.destroy();
    await rm(dir, { recursive: true, force: true });
  }
}

async function setUp(url: string): Promise<string> {
  const reply = await fetch(`${url}/api/v1/setup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      admin: {
        name: "Admin",
        email: "admin@example.com",
        password: "A-good-Password-77",
        password_confirmation: "A-good-Password-77",
      },
      org_info: { org_name: "Soak" },
      server_url: url,
    }),
  });
  if (!reply.ok) throw new Error(`setup: ${await reply.text()}`);
  return ((await reply.json()) as { token: string }).token;
}

/** Runs a command in this process; returns its stdout. */
async function commandLine(url: string, token: string, home: string): Promise<Svc> {
  const config = await sourceConfig(root, undefined, isOurs);
  return async (argv, env) => {
    let [out, err] = ["", ""];
    const code = await main([...argv], config, {
      ...processIo(),
      env: { ...env, HOME: home, XDG_CONFIG_HOME: home, SVC_KEYRING: "off", SVC_SERVER_URL: url, SVC_API_TOKEN: token },
      tty: { stdin: false, stdout: false, stderr: false },
      out: (text) => {
        out += text;
      },
      outText: async (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    });
    if (code !== 0) throw new Error(`svc ${argv[0]} ended with ${code}: ${err}`);
    return out;
  };
}

interface Trial {
  readonly svc: Svc;
  readonly dir: string;
  readonly defaults: ConfigurationState["defaults"];
  readonly things: StateThing[];
  fail(why: string): Error;
}

async function roundTrip({ svc, dir, defaults, things, fail }: Trial): Promise<Record<string, string>> {
  const { files, variables } = exportFiles({ things, defaults });
  const environment = environmentOf(variables);
  const flags = ["--delete-other-teams"];
  const given = await written(join(dir, "given"), files);
  await svc(["apply", ...given, ...flags, "--yes", "--allow-delete", "--skip-checks"], environment);
  const there = join(dir, "exported");
  await rm(there, { recursive: true, force: true });
  await svc(["export", "--dir", there], environment);
  for (const of of [given, await mainFiles(there)]) {
    const { changes } = JSON.parse(await svc(["plan", ...of, ...flags, "-o", "json"], environment)) as PlannedChanges;
    if (changes.length > 0) throw fail(`the plan is not empty: ${JSON.stringify(changes).slice(0, 2000)}`);
  }
  return environment;
}

async function oneChange(
  { svc, dir, defaults, things, fail }: Trial,
  environment: Record<string, string>,
  pick: number,
): Promise<void> {
  const changed = changeOne(things, pick);
  if (changed === null) throw fail("there is nothing to change");
  const { kind, owner, name, path } = changed;
  const files = await written(join(dir, "changed"), exportFiles({ things: changed.things, defaults }).files);
  const planned = await svc(["plan", ...files, "--delete-other-teams", "-o", "json"], environment);
  const { changes } = JSON.parse(planned) as PlannedChanges;
  const told = changes.map((one) => [one.action, one.kind, one.team, one.name, one.fields?.map((field) => field.path)]);
  const wanted = [["update", kind, owner, name, [path]]];
  if (JSON.stringify(told) !== JSON.stringify(wanted))
    throw fail(`${JSON.stringify(wanted)} was changed, and told is ${JSON.stringify(told).slice(0, 2000)}`);
}

/** Writes the files to an empty folder; returns the flags that name the main ones. */
async function written(dir: string, files: ReadonlyMap<string, string>): Promise<string[]> {
  await rm(dir, { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return mainFiles(dir);
}

async function mainFiles(dir: string): Promise<string[]> {
  const teams = await readdir(join(dir, "teams"));
  return ["-f", join(dir, "default.yml"), ...teams.map((name) => join(dir, "teams", name))];
}
