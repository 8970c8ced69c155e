// The JSON Schema of main files for editors, derived from the schemas that parse the files.
import { z } from "zod";
import { listKinds } from "../kinds.ts";
import { spellingsOf } from "../schema/loosen.ts";
import { notHere } from "../schema/not-built.ts";
import {
  AgentOptionsFile,
  GlobalControls,
  NoTeamSettings,
  OrgSettings,
  TeamControls,
  TeamSettings,
} from "../schema/settings.ts";
import { Software } from "../schema/software.ts";
import { spellings } from "./scope.ts";

type Node = { [key: string]: unknown };

/**
 * The schemas of the parts of files. They are converted as properties of one object so that they share definitions.
 */
const parts = z.strictObject({
  org_settings: OrgSettings,
  team_settings: TeamSettings,
  no_team_settings: NoTeamSettings,
  global_controls: GlobalControls,
  team_controls: TeamControls,
  agent_options: AgentOptionsFile,
  ...Object.fromEntries(listKinds.map(({ kind, items }): [string, z.ZodType] => [kind, items.schema])),
  software: Software,
  no_software: notHere("software is only allowed in files of teams"),
});

/** Draft-07, which YAML language servers support. */
export function fileSchema(): Record<string, unknown> {
  const { properties, definitions = {} } = z.toJSONSchema(parts, {
    io: "input",
    target: "draft-7",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => mark(zodSchema as unknown as z.ZodType, jsonSchema as Node),
  }) as { properties: Record<string, Node>; definitions?: Node };
  const part = (name: string): Node => {
    if (!Object.hasOwn(shared, name)) shared[name] = withVariables(properties[name]);
    return { $ref: `#/definitions/${name}` };
  };
  const shared: Node = { ...(withVariables(definitions) as Node), ...fixed };
  const common = {
    agent_options: orPath(part("agent_options")),
    ...Object.fromEntries(listKinds.map(({ kind, items }) => [items.list, listOf(part(kind))])),
  };
  const team = { name: { type: "string", minLength: 1, description: "name of the team" }, ...common };
  const whole: Node = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of svc",
    if: { required: ["org_settings"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: file({
      org_settings: orPath(part("org_settings")),
      controls: orPath(part("global_controls")),
      software: part("no_software"),
      ...common,
    }),
    else: {
      // A file is either global or a team's.
      required: ["name"],
      if: { properties: { name: { pattern: noTeamName } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: file({
        team_settings: orPath(part("no_team_settings")),
        controls: orPath(part("global_controls")),
        software: { anyOf: [part("software"), { type: "null" }] },
        ...team,
      }),
      else: file({
        team_settings: orPath(part("team_settings")),
        controls: orPath(part("team_controls")),
        software: { anyOf: [part("software"), { type: "null" }] },
        ...team,
      }),
    },
  };
  return { ...whole, definitions: reached(whole, shared) };
}

/** The definitions in use. Keys that must be empty do not count. */
function reached(from: unknown, definitions: Node, used: Node = {}): Node {
  if (Array.isArray(from)) for (const element of from) reached(element, definitions, used);
  else if (typeof from === "object" && from !== null)
    for (const [key, value] of Object.entries(from)) {
      const name = key === "$ref" ? String(value).slice("#/definitions/".length) : "";
      if (name === "") reached(value, definitions, used);
      else if (!Object.hasOwn(used, name)) {
        used[name] = definitions[name];
        reached(used[name], definitions, used);
      }
    }
  return used;
}

const anyCase = (text: string): string => text.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
const noTeamName = `^\\s*(${anyCase("no team")}|${anyCase("unassigned")})\\s*$`;

const fixed = {
  variable: {
    type: "string",
    pattern: "\\$(\\{[A-Za-z_][A-Za-z0-9_]*\\}|[A-Za-z_][A-Za-z0-9_]*)",
    description: "an environment variable: $NAME",
  },
  nothing: {
    anyOf: [
      { type: "null" },
      { enum: [false, "", 0] },
      { type: "array", maxItems: 0 },
      { type: "object", additionalProperties: { $ref: "#/definitions/nothing" } },
    ],
  },
  path: {
    type: "object",
    required: ["path"],
    properties: { path: { type: "string", minLength: 1, description: "a file, relative to this one" } },
    additionalProperties: false,
  },
  paths: {
    type: "object",
    required: ["paths"],
    properties: {
      paths: { type: "string", pattern: "[*?[{$]", description: "a pattern for files, relative to this one" },
    },
    additionalProperties: false,
  },
};

const file = (properties: Node): Node => ({
  type: "object",
  additionalProperties: false,
  properties: both(properties),
});

/** The properties, with newer names beside the older ones. */
function both(properties: Node): Node {
  const result: Node = { ...properties };
  for (const [newer, older] of Object.entries(spellings)) {
    if (!Object.hasOwn(properties, older)) continue;
    result[newer] = properties[older];
    result[older] = outdated(properties[older] as Node, newer);
  }
  return result;
}

const outdated = (node: Node, newer: string): Node => ({
  allOf: [node],
  deprecated: true,
  description: `older name of ${newer}`,
});

const orPath = (node: Node): Node => ({ anyOf: [node, { $ref: "#/definitions/path" }, { type: "null" }] });
const listOf = (node: Node): Node => ({
  anyOf: [
    {
      type: "array",
      items: { anyOf: [node, { $ref: "#/definitions/path" }, { $ref: "#/definitions/paths" }] },
    },
    { type: "null" },
  ],
});

/** Details that zod's conversion does not know: keys that must be empty, and older names. */
function mark(schema: z.ZodType, node: Node): void {
  const { emptyOnly, never, description } = schema.meta() ?? {};
  if (emptyOnly || never) {
    for (const key of Object.keys(node)) delete node[key];
    node.description = description;
    if (emptyOnly) node.allOf = [{ $ref: "#/definitions/nothing" }];
    else node.not = {};
  }
  const { properties } = node as { properties?: Record<string, Node> };
  if (properties)
    for (const { older, newer } of spellingsOf(schema)) properties[older] = outdated(properties[older]!, newer);
}

/** Variables are replaced before the text is parsed, so that numbers and booleans may be given as variables. */
function withVariables(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withVariables);
  if (typeof node !== "object" || node === null) return node;
  const { type, description, ...rest } = node as Node;
  const types = [type ?? []].flat();
  const isScalar =
    types.some((candidate) => ["integer", "number", "boolean"].includes(candidate as string)) ||
    "enum" in rest ||
    "const" in rest;
  const isNarrow = types.includes("string") && Object.keys(rest).some((key) => key !== "maxLength");
  if (isScalar || isNarrow)
    return {
      anyOf: [{ ...(type === undefined ? {} : { type }), ...withoutSafe(rest) }, { $ref: "#/definitions/variable" }],
      ...(description === undefined ? {} : { description }),
    };
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === "properties" ? mapped(value as Node) : withVariables(value),
    ]),
  );
}

/** The limits of JavaScript's safe integers are not useful to readers of the schema. */
const withoutSafe = (rest: Node): Node =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => Math.abs(value as number) !== Number.MAX_SAFE_INTEGER));

/** A property may have the same name as a keyword. */
const mapped = (properties: Node): Node =>
  Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, withVariables(value)]));
