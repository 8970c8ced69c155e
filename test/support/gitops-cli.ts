// Commands of configuration as code, run on folders of files with the real app.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ConfigurationState } from "../../src/api/edge/configuration.ts";
import { Environment } from "../../src/gitops/environment/variables.ts";
import { Problems } from "../../src/gitops/files/problems.ts";
import { parseTree, plain } from "../../src/gitops/files/tree.ts";
import type { planJson } from "../../src/gitops/plan/render.ts";
import type { TestApp } from "./app.ts";
import { newHome, type RunOptions, type RunResult, runCli, sendInto } from "./cli.ts";
import { makeHost } from "./make.ts";

/** Names of hosts that manual labels of generated configurations contain. */
export const HOSTS = ["A-1", "B-2", "C 3"];

export async function withHosts(app: TestApp): Promise<TestApp> {
  for (const hardware_serial of HOSTS) await makeHost(app, { hardware_serial });
  return app;
}

export const gitops = (app: TestApp, argv: string[], options: RunOptions = {}): Promise<RunResult> =>
  runCli(argv, { send: sendInto(app), ...options, env: { SVC_API_TOKEN: app.token, ...options.env } });

export async function stateOf(app: TestApp): Promise<ConfigurationState> {
  const reply = await app.post("/spec/state", {});
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as ConfigurationState;
}

/** Writes the files to a new folder. */
export async function writeAll(files: ReadonlyMap<string, string>): Promise<string> {
  const dir = await newHome();
  for (const [path, text] of files) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

/** The content of files by name, without the order of keys, which has no meaning. */
export const parsed = (files: Iterable<readonly [string, string]>, env: Record<string, string> = {}) =>
  Object.fromEntries(
    [...files].map(([path, text]): [string, unknown] => {
      if (!path.endsWith(".yml")) return [path, text];
      const tree = parseTree(text, path, {
        environment: new Environment(env),
        problems: new Problems(),
        variables: new Map(),
      });
      return [path, tree && plain(tree)];
    }),
  );

export async function filesIn(dir: string, env: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const found: [string, string][] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.push([path.slice(dir.length + 1), await readFile(path, "utf8")]);
  }
  return parsed(found, env);
}

/** The flags that name the main files of a folder. */
export async function mainFiles(dir: string): Promise<string[]> {
  const teams = await readdir(join(dir, "teams")).catch((): string[] => []);
  return ["default.yml", ...teams.sort().map((name) => join("teams", name))].flatMap((name) => ["-f", join(dir, name)]);
}

/** Applies all files of the folder; returns its stderr. */
export async function applyIn(app: TestApp, dir: string, env: Record<string, string> = {}): Promise<string> {
  const always = ["--yes", "--delete-other-teams", "--allow-delete", "--skip-checks"];
  const { exitCode, stderr } = await gitops(app, ["apply", ...(await mainFiles(dir)), ...always], { env });
  if (exitCode !== 0) throw new Error(stderr);
  return stderr;
}

export async function exportTo(app: TestApp, dir: string): Promise<RunResult> {
  const result = await gitops(app, ["export", "--dir", dir]);
  if (result.exitCode !== 0) throw new Error(result.stderr);
  return result;
}

type PlannedChange = ReturnType<typeof planJson>["changes"][number];

/** The plan of the folder's files. */
export async function planIn(app: TestApp, dir: string, env: Record<string, string> = {}): Promise<PlannedChange[]> {
  const result = await gitops(app, ["plan", ...(await mainFiles(dir)), "--delete-other-teams", "-o", "json"], { env });
  if (result.exitCode !== 0) throw new Error(result.stderr);
  return (JSON.parse(result.stdout) as { changes: PlannedChange[] }).changes;
}
