// The sections of one main file: checked, under the server's spellings, with references in place of secrets.

import type { z } from "zod";
import { type CaType, caTypes, isSingle } from "../../api/ca.ts";
import { isRecord } from "../../text/record.ts";
import type { Json, Thing } from "../plan/diff.ts";
import { isEmpty } from "../schema/not-built.ts";
import type { SectionName } from "../schema/sections.ts";
import {
  AgentOptionsFile,
  GlobalControls,
  NoTeamSettings,
  OrgSettings,
  TeamControls,
  TeamSettings,
} from "../schema/settings.ts";
import { type CheckOptions, check } from "./check.ts";
import { respelled, sayOlder, type Value } from "./overlay.ts";
import type { Place } from "./problems.ts";
import { checkControls, checkOrgSettings, checkTeamSettings, reporterOf } from "./rules.ts";
import type { Scope, Section } from "./scope.ts";
import type { SecretTexts } from "./secrets.ts";
import { placeOf, plain, type Tree } from "./tree.ts";

/** An enroll secret, by its reference. */
export interface GivenSecret {
  readonly ref: Json;
  readonly at: Place;
}

/** For each section: undefined if the file does not have it, null if it is empty. */
export interface Says {
  /** From org_settings or team_settings. */
  readonly settings: Value | null | undefined;
  readonly controls: Value | null | undefined;
  readonly agentOptions: Value | null | undefined;
  readonly secrets: readonly GivenSecret[] | undefined;
  readonly authorities: readonly Thing[];
}

export function whatItSays(scope: Scope, secrets: SecretTexts, options: CheckOptions): Says {
  const { kind } = scope;
  const read = (name: SectionName, schema: z.ZodType) => sectionOf(scope, name, schema, options);
  if (scope.software && !isEmpty(plain(scope.software.value)))
    options.problems.error(
      scope.software.key,
      kind === "global"
        ? "software is not allowed in the global file"
        : "software: this server does not support software installation yet",
    );
  if (kind === "global") {
    const org = read("org_settings", OrgSettings);
    const tree = scope.sections.org_settings?.tree;
    if (!org || !tree)
      return {
        settings: org,
        controls: controlsOf(scope, GlobalControls, options),
        agentOptions: read("agent_options", AgentOptionsFile),
        secrets: undefined,
        authorities: [],
      };
    checkOrgSettings(org, reporterOf(tree, "org_settings", options.problems));
    const { certificate_authorities: _authorities, ...settings } = withoutSecrets(org);
    return {
      settings: withRefs(settings, tree, secrets),
      controls: controlsOf(scope, GlobalControls, options),
      agentOptions: read("agent_options", AgentOptionsFile),
      secrets: enrollSecrets(org, tree, "org_settings", secrets),
      authorities: authorities(org, tree, secrets, options),
    };
  }
  if (kind === "no_team") {
    const ignored = scope.sections.agent_options;
    if (ignored) options.problems.warn(ignored.key, "agent_options are ignored in the file of hosts without a team");
    return {
      settings: read("team_settings", NoTeamSettings),
      controls: controlsOf(scope, GlobalControls, options),
      agentOptions: undefined,
      secrets: undefined,
      authorities: [],
    };
  }
  const team = read("team_settings", TeamSettings);
  const { tree, called = "" } = scope.sections.team_settings ?? {};
  if (team && tree) checkTeamSettings(team, reporterOf(tree, called, options.problems));
  return {
    settings: team ? withoutSecrets(team) : team,
    controls: controlsOf(scope, TeamControls, options),
    agentOptions: read("agent_options", AgentOptionsFile),
    secrets: team && tree ? enrollSecrets(team, tree, called, secrets) : undefined,
    authorities: [],
  };
}

/** A section that has objects of its own. */
function withoutSecrets({ secrets: _secrets, ...settings }: Value): Value {
  return settings;
}

const isNothing = ({ tree }: Section): boolean => tree === null || (tree.kind === "leaf" && tree.value === null);

/** A value that does not match is reported and treated as absent. */
function sectionOf(
  { sections }: Scope,
  name: SectionName,
  schema: z.ZodType,
  options: CheckOptions,
): Value | null | undefined {
  const section = sections[name];
  if (!section) return undefined;
  return isNothing(section) ? null : checked(schema, section.tree!, section.called, options);
}

/** The value under the server's spellings; null, with the problems reported, if it does not match. */
export function checked(schema: z.ZodType, tree: Tree, called: string, options: CheckOptions): Value | null {
  const value = check(schema, tree, called, options);
  return value === null ? null : (respelled(schema, value, tree, called, options) as Value);
}

function controlsOf(scope: Scope, schema: z.ZodType, options: CheckOptions): Value | null | undefined {
  const found = sectionOf(scope, "controls", schema, options);
  const tree = scope.sections.controls?.tree;
  return found && tree ? wholeControls(found, tree, "controls", options) : found;
}

export function wholeControls(found: Value, tree: Tree, called: string, options: CheckOptions): Value {
  const value = { ...found };
  // The only key whose newer name is in another object.
  const older = "windows_require_bitlocker_pin";
  const newer = isRecord(value.windows_settings) ? value.windows_settings.require_bitlocker_pin : undefined;
  if (typeof value[older] === "boolean")
    sayOlder(
      options,
      tree,
      called,
      { from: [older], to: ["windows_settings", "require_bitlocker_pin"] },
      typeof newer === "boolean",
    );
  value[older] ??= newer;
  checkControls(value, reporterOf(tree, called, options.problems));
  return value;
}

export function withRefs(org: Value, tree: Tree, secrets: SecretTexts, called = "org_settings"): Value {
  const parts = tree.kind === "map" ? tree.entries : undefined;
  return Object.fromEntries(
    Object.entries(org).map(([name, value]) => {
      const part = parts?.get(name)?.value;
      return [name, part && isRecord(value) ? secrets.ofSection(name, value, part, called) : value];
    }),
  );
}

export function enrollSecrets(
  settings: Value,
  tree: Tree,
  name: string,
  secrets: SecretTexts,
): GivenSecret[] | undefined {
  const given = settings.secrets as readonly { secret: string }[] | null | undefined;
  return given?.map(({ secret }, i) => {
    const path = ["secrets", String(i), "secret"];
    return { ref: secrets.take(secret, tree, path, `${name}.${path.join(".")}`), at: placeOf(tree, path) };
  });
}

function authorities(org: Value, tree: Tree, secrets: SecretTexts, { problems }: CheckOptions): Thing[] {
  const groups = org.certificate_authorities;
  if (!isRecord(groups)) return [];
  const seen = new Set<string>();
  return caTypes.flatMap((type) => {
    const group = groups[type];
    const isList = Array.isArray(group);
    return [group ?? []].flat().map((one, i): Thing => {
      const path = ["certificate_authorities", type, ...(isList ? [String(i)] : [])];
      const given = one as Value;
      const name = isSingle(type) ? type : String(given.name);
      if (seen.has(name))
        problems.error(placeOf(tree, [...path, "name"]), `the certificate authority ${name} is given twice`);
      seen.add(name);
      const value = secrets.ofAuthority(type, given, subtree(tree, path), ["org_settings", ...path].join("."));
      return { kind: "certificate_authority", owner: null, name: `${type}/${name}`, value: caValue(type, value) };
    });
  });
}

function caValue(type: CaType, { name, ...fields }: Value): Json {
  const names = fields.certificate_user_principal_names ?? [];
  return {
    ...(isSingle(type) ? {} : { name }),
    ...fields,
    ...(type === "hosted_ca_a" ? { certificate_user_principal_names: names } : {}),
  } as Json;
}

/** The nearest existing part at a path. */
export function subtree(tree: Tree, path: readonly string[]): Tree {
  return path.reduce((at: Tree, step) => {
    const inner = at.kind === "map" ? at.entries.get(step)?.value : at.kind === "list" ? at.items[Number(step)] : null;
    return inner ?? at;
  }, tree);
}
