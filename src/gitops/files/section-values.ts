// The values of the sections of one main file: checked, under the server's spellings, with references in place of
// secrets.

import type { z } from "zod";
import { movedSettings, valueAt, withValueAt } from "../schema/moved.ts";
import { isEmpty } from "../schema/not-built.ts";
import { type SectionName, schemaOf, settingsOf } from "../schema/sections.ts";
import { controlSpellings } from "../schema/settings.ts";
import { type CheckOptions, check } from "./check.ts";
import { reportOlder, respelled, type Value } from "./overlay.ts";
import { checkControls, reporterOf, rulesOfSettings } from "./rules.ts";
import type { Scope } from "./scope.ts";
import type { SecretTexts } from "./secrets.ts";
import { plain, type Tree } from "./tree.ts";

/** Undefined if the file does not have the section, null if it is empty or does not match. */
export interface SectionValues {
  /** Sections of org_settings or team_settings. */
  readonly settings: Value | null | undefined;
  readonly controls: Value | null | undefined;
  readonly agentOptions: Value | null | undefined;
}

export function sectionValues(scope: Scope, secrets: SecretTexts, options: CheckOptions): SectionValues {
  const { problems } = options;
  if (scope.kind === "global" && scope.software && !isEmpty(plain(scope.software.value)))
    problems.error(scope.software.key, "software is not allowed in the global file");
  const { agent_options: ignored } = scope.sections;
  if (ignored && !schemaOf("agent_options", scope.kind))
    problems.warn(ignored.key, "agent_options are ignored in the file of hosts without a team");
  return {
    settings: readSection(scope, settingsOf(scope.kind), options, (value, tree, called) => {
      rulesOfSettings[scope.kind](value, reporterOf(tree, called, problems));
      return secrets.ofSettings(value, tree, called);
    }),
    controls: readSection(scope, "controls", options, (value, tree, called) =>
      wholeControls(value, tree, called, options),
    ),
    agentOptions: readSection(scope, "agent_options", options),
  };
}

function readSection(
  { kind, sections }: Scope,
  name: SectionName,
  options: CheckOptions,
  complete = (value: Value, _tree: Tree, _called: string) => value,
): Value | null | undefined {
  const section = sections[name];
  const schema = schemaOf(name, kind);
  if (!section || !schema) return undefined;
  const { tree, called } = section;
  if (tree === null || (tree.kind === "leaf" && tree.value === null)) return null;
  const value = checked(schema, tree, called, options);
  return value && complete(value, tree, called);
}

/** The value under the server's spellings; null, with the problems reported, if it does not match. */
export function checked(schema: z.ZodType, tree: Tree, called: string, options: CheckOptions): Value | null {
  const value = check(schema, tree, called, options);
  return value === null ? null : (respelled(schema, value, tree, called, options) as Value);
}

export function wholeControls(input: Value, tree: Tree, called: string, options: CheckOptions): Value {
  let value = input;
  for (const { setting, key, isOlder } of movedSettings) {
    const older = valueAt(value, setting) ?? undefined;
    const newer = valueAt(value, key) ?? undefined;
    if (isOlder && older !== undefined)
      reportOlder(options, tree, called, { from: inTree(tree, setting), to: newestPath(key) }, newer !== undefined);
    if (newer !== undefined) value = withValueAt(value, setting, newer);
  }
  checkControls(value, reporterOf(tree, called, options.problems));
  return value;
}

/** The path as this file spells it. */
const inTree = (tree: Tree, path: readonly string[]): readonly string[] => {
  const newer = newestPath(path);
  return tree.kind === "map" && tree.entries.has(newer[0]!) ? newer : path;
};

const newestPath = ([first = "", ...rest]: readonly string[]): readonly string[] => [
  controlSpellings.find(({ key }) => key === first)?.newer ?? first,
  ...rest,
];
