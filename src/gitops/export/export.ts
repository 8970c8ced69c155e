// Exports the server's state to files from which a plan is empty: which part of each object belongs in which file.

import type { z } from "zod";
import { type CaType, caTypes, isSingle } from "../../api/ca.ts";
import { type ConfigurationState, NO_TEAM_NAME, type StateThing, type ThingKind } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import { kinds } from "../kinds.ts";
import { isSame, type Json, type Owner } from "../plan/diff.ts";
import {
  GlobalControls,
  mdmLeft,
  NoTeamSettings,
  OrgSettings,
  orgMdmKeys,
  TeamControls,
  TeamSettings,
} from "../schema/settings.ts";
import { environmentFile, FileNames, nameSecret, newest } from "./names.ts";
import { type Variable, Variables, yamlOf } from "./text.ts";

export interface Exported {
  /** File contents by path below the directory, with `/`. */
  readonly files: ReadonlyMap<string, string>;
  /** The environment variables that a plan of these files needs. */
  readonly variables: readonly Variable[];
}

type Fields = { readonly [key: string]: Json };

/** The maximum size in characters of a file of items: far below the reader's limit of 8 MiB. */
const FRAGMENT_MAX = 1024 * 1024;

export function exportFiles(state: Pick<ConfigurationState, "things" | "defaults">): Exported {
  const scope = new Scopes(state.things);
  const variables = new Variables();
  const files = new Map<string, string>();
  const writer: Writer = { files, variables, scope };
  writeGlobal(writer);
  const names = new FileNames();
  for (const { name } of scope.all(null, "team")) writeTeam(writer, name, names.of(name), state.defaults);
  writeNoTeam(writer);
  files.set(".gitignore", ".env\nplan.json\n");
  files.set(".env.example", environmentFile(variables.all));
  return { files, variables: variables.all };
}

interface Writer {
  readonly files: Map<string, string>;
  readonly variables: Variables;
  readonly scope: Scopes;
}

/** The objects by scope and kind, sorted by name. */
class Scopes {
  readonly #things = new Map<string, StateThing[]>();

  constructor(things: readonly StateThing[]) {
    for (const thing of things) {
      const key = JSON.stringify([thing.owner, thing.kind]);
      const list = this.#things.get(key);
      if (list) list.push(thing);
      else this.#things.set(key, [thing]);
    }
  }

  all(owner: Owner, kind: ThingKind): readonly StateThing[] {
    const found = this.#things.get(JSON.stringify([owner, kind])) ?? [];
    return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** The value of a kind with one object per scope; null if there is none. */
  one(owner: Owner, kind: ThingKind): Json {
    return this.all(owner, kind)[0]?.value ?? null;
  }
}

function writeGlobal(writer: Writer): void {
  const { scope } = writer;
  const sections = new Map(scope.all(null, "config").map(({ name, value }) => [name, fieldsOf(value)]));
  const mdm = sections.get("mdm");
  sections.delete("mdm");
  const yara = sections.get("yara_rules") ?? {};
  sections.delete("yara_rules");
  for (const [name, contents] of Object.entries(yara)) writer.files.set(`lib/yara/${name}`, String(contents));
  const org: Fields = {
    ...Object.fromEntries(sections),
    ...(mdm ? { mdm: pick(mdm, (key) => isOrgMdm(key)) } : {}),
    ...secretsOf(scope, null),
    yara_rules: Object.keys(yara)
      .sort()
      .map((name) => ({ path: `lib/yara/${name}` })),
    certificate_authorities: authorities(scope.all(null, "certificate_authority")),
  };
  const file: Fields = {
    org_settings: newest(OrgSettings, org),
    ...agentOptions(scope, null),
    // Always in this file, never in that for hosts without a team: exactly one of the two defines them.
    controls: mdm ? inFiles(GlobalControls, controlsOf(mdm)) : {},
    labels: items(writer, null, "label", "lib/labels", "lib"),
    policies: items(writer, null, "policy", "lib/policies", "lib"),
    reports: items(writer, null, "query", "lib/reports", "lib"),
  };
  const head =
    "# The global configuration. Written by `svc export`; `svc plan -f default.yml -f teams/*.yml` shows what differs.\n";
  write(writer, "default.yml", `${head}`, file, null);
}

function writeTeam(
  writer: Writer,
  name: string,
  stem: string,
  { team_settings: defaults }: ConfigurationState["defaults"],
): void {
  const { scope } = writer;
  const settings = fieldsOf(scope.one(name, "team_settings"));
  const { mdm, host_expiry_settings, ...rest } = settings;
  const base = fieldsOf(defaults);
  const team = fieldsOf(scope.all(null, "team").find((one) => one.name === name)?.value ?? null);
  const controls = changed(controlsOf(fieldsOf(mdm ?? null)), controlsOf(fieldsOf(base.mdm ?? null)));
  const file: Fields = {
    name,
    settings: newest(TeamSettings, {
      // If left out, these keep their values, so they are always written.
      ...team,
      ...(host_expiry_settings === undefined ? {} : { host_expiry_settings }),
      ...changed(rest, base),
      ...secretsOf(scope, name),
    }),
    ...agentOptions(scope, name),
    ...(Object.keys(controls).length > 0 ? { controls: inFiles(TeamControls, controls) } : {}),
    policies: items(writer, name, "policy", `lib/${stem}.policies`, "../lib"),
    reports: items(writer, name, "query", `lib/${stem}.reports`, "../lib"),
  };
  write(writer, `teams/${stem}.yml`, "", file, name);
}

function writeNoTeam(writer: Writer): void {
  const { scope } = writer;
  const settings = scope.one(NO_TEAM_NAME, "team_settings");
  const policies = scope.all(NO_TEAM_NAME, "policy");
  if (settings === null && policies.length === 0) return;
  const file: Fields = {
    name: NO_TEAM_NAME,
    settings: newest(NoTeamSettings, fieldsOf(settings)),
    policies: items(writer, NO_TEAM_NAME, "policy", "lib/no-team.policies", "../lib"),
  };
  write(writer, "teams/no-team.yml", "", file, NO_TEAM_NAME);
}

const fieldsOf = (value: Json): Fields => (isRecord(value) ? value : {});
const pick = (value: Fields, wanted: (key: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(value).filter(([key]) => wanted(key)));
/** The fields that differ from their defaults. */
const changed = (value: Fields, defaults: Fields): Fields => pick(value, (key) => !isSame(value[key], defaults[key]));

const isOrgMdm = (key: string): boolean => (orgMdmKeys as readonly string[]).includes(key);

/** The fields of `mdm` that files call controls, without those that files cannot express. */
function controlsOf(mdm: Fields): Fields {
  const kept = structuredClone(pick(mdm, (key) => !isOrgMdm(key))) as Record<string, Json>;
  for (const path of mdmLeft) {
    const [first = "", second] = path.split(".");
    const inner = kept[first];
    if (second === undefined) delete kept[first];
    else if (isRecord(inner)) kept[first] = pick(inner, (key) => key !== second);
  }
  return kept;
}

/** The fields under their names in files; one of them belongs to another object there. */
function inFiles(schema: z.ZodType, { windows_require_bitlocker_pin: pin, ...controls }: Fields): Fields {
  const named = fieldsOf(newest(schema, controls));
  return pin === undefined ? named : { ...named, windows_settings: { require_bitlocker_pin: pin } };
}

const agentOptions = (scope: Scopes, owner: Owner): Fields => {
  const options = scope.one(owner, "agent_options");
  return options === null ? {} : { agent_options: options };
};

/** Files list secrets as {secret}. If left out they are kept, so they are always written. */
function secretsOf(scope: Scopes, owner: Owner): Fields {
  const given = fieldsOf(scope.one(owner, "enroll_secrets")).secrets;
  return Array.isArray(given) ? { secrets: given.map((secret) => ({ secret })) } : {};
}

function authorities(things: readonly StateThing[]): Fields {
  const groups: Record<string, Json> = {};
  for (const type of caTypes) {
    const values = things
      .filter(({ name }) => name.startsWith(`${type}/`))
      .map(({ value }) => withoutName(type, value));
    if (values.length > 0) groups[type] = type === "directory_scep_proxy" ? values[0]! : values;
  }
  return groups;
}

const withoutName = (type: CaType, value: Json): Json =>
  pick(fieldsOf(value), (key) => key !== "type" && !(isSingle(type) && key === "name"));

/** The items of a list: inline for a team with few of them, otherwise in files of their own. */
function items(writer: Writer, owner: Owner, kind: ThingKind, stem: string, folder: string): Json {
  const { schema, defaults } = kinds[kind].items!;
  const all = writer.scope
    .all(owner, kind)
    .map(({ name, value }) => newest(schema, { name, ...changed(fieldsOf(value), defaults) }));
  const parts = partsOf(all);
  if (all.length === 0 || (owner !== null && parts.length === 1)) return all;
  return parts.map((part, i) => {
    const file = `${stem}${parts.length === 1 ? "" : `-${i + 1}`}.yml`;
    write(writer, file, "", part, owner);
    return { path: `${folder}/${file.slice("lib/".length)}` };
  });
}

function partsOf(all: readonly Json[]): Json[][] {
  const parts: Json[][] = [[]];
  let size = 0;
  for (const item of all) {
    const length = JSON.stringify(item).length;
    if (size > 0 && size + length > FRAGMENT_MAX) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)!.push(item);
    size += length;
  }
  return parts;
}

function write({ files, variables }: Writer, path: string, head: string, value: Json, owner: Owner): void {
  files.set(path, `${head}${yamlOf(value, nameSecret(value, variables, owner))}`);
}
