// Files of configuration as code in a folder of their own, and a server's state to compare them with.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ConfigurationState, StateThing } from "../../src/api/edge/configuration.ts";
import { type DesiredOptions, desiredOf } from "../../src/gitops/desired/desired.ts";
import { renderProblem } from "../../src/gitops/files/problems.ts";
import { readFiles } from "../../src/gitops/files/read.ts";
import type { Thing } from "../../src/gitops/plan/diff.ts";
import { configDefaults } from "../../src/server/edge/configuration/kinds/config/value.ts";
import { noTeamDefaults, teamSettingsDefaults } from "../../src/server/edge/configuration/kinds/team-settings/value.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import { isSame, type Json } from "../../src/text/differences.ts";

/** JSON is YAML; it contains no variables, and no character has a special meaning. */
export const asYaml = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(
    /[^\n -~]|\$/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export interface ReadOptions {
  readonly environment?: Record<string, string>;
  readonly allowUnknownKeys?: boolean;
}

/** Writes the files, and reads the main ones, whose names `main` returns (default: all). */
export async function readGiven(
  files: Readonly<Record<string, string | Uint8Array>>,
  given: ReadOptions = {},
  main = Object.keys(files),
) {
  const directory = await mkdtemp(join(tmpdir(), "svc-gitops-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), text);
    }
    const { environment = {}, allowUnknownKeys = false } = given;
    return await readFiles(main, { environment, directory, allowUnknownKeys });
  } finally {
    await rm(directory, { recursive: true });
  }
}

type Problematic = Awaited<ReturnType<typeof readGiven>>["problems"];

export const errorsOf = ({ all }: Problematic): string[] =>
  all.filter(({ severity }) => severity === "error").map(renderProblem);
export const warningsOf = ({ all }: Problematic): string[] =>
  all.filter(({ severity }) => severity === "warning").map(renderProblem);

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as StateThing["value"];
export const defaults = plain({
  config: configDefaults(),
  team_settings: teamSettingsDefaults,
  no_team_settings: noTeamDefaults,
  agent_options: sections.agent_options.defaults,
}) as ConfigurationState["defaults"];

export const thing = (
  kind: Thing["kind"],
  owner: string | null,
  name: string,
  value: unknown = {},
): StateThing & Thing => ({ kind, owner, name, value: value as Json & StateThing["value"], revision: "1" });

/** A server with only the given configuration. */
export function stateWith(
  things: readonly StateThing[] = [],
  more: Partial<ConfigurationState> = {},
): ConfigurationState {
  const own = [
    ...Object.entries(defaults.config).map(([name, value]) => thing("config", null, name, value)),
    thing("agent_options", null, "agent_options", defaults.agent_options),
    thing("team_settings", "No team", "team_settings", defaults.no_team_settings),
  ];
  const isGiven = (one: StateThing) => things.some((other) => isSame(keyPart(one), keyPart(other)));
  return {
    things: [...own.filter((one) => !isGiven(one)), ...things],
    defaults,
    builtin_labels: ["All Hosts", "macOS"],
    labels: things.filter(({ kind }) => kind === "label").map(({ name }) => name),
    hosts: [],
    tier: "premium",
    ...more,
  };
}
const keyPart = ({ kind, owner, name }: StateThing): Json => ({ kind, owner, name });

export const GLOBAL = "org_settings: {}\ncontrols: {}\n";

/** The state that the files require; fails if they contain errors. */
export async function credentialsFrom(
  files: Readonly<Record<string, string>>,
  state: ConfigurationState = stateWith(),
  options: DesiredOptions = {},
) {
  const read = await readGiven(files);
  const desired = desiredOf(read, state, options);
  const errors = errorsOf(desired.problems);
  if (errors.length > 0) throw new Error(errors.join("\n"));
  const find = (kind: Thing["kind"], owner: string | null, name: string = kind) =>
    desired.things.find((one) => one.kind === kind && one.owner === owner && one.name === name)?.value;
  return { ...desired, find, secrets: read.secrets, warnings: warningsOf(desired.problems) };
}
