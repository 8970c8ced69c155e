// Rendering of a plan for people: on a terminal and in a pull request.

import { createTwoFilesPatch } from "diff";
import type { ConfigurationState } from "../../api/edge/configuration.ts";
import { differences, type FieldChange, type Json, masked } from "../../text/differences.ts";
import { printable, printableLines, visible } from "../../text/printable.ts";
import { isRecord } from "../../text/record.ts";
import { NOT_SHOWN } from "../environment/masks.ts";
import { isDeletable, kinds } from "../kinds.ts";
import type { Change, Owner } from "./diff.ts";

/** The default settings, which plans need not show for new objects. */
type Defaults = ConfigurationState["defaults"];

export interface Paint {
  added(text: string): string;
  changed(text: string): string;
  removed(text: string): string;
  faint(text: string): string;
}
const same = (text: string) => text;
const unpainted: Paint = { added: same, changed: same, removed: same, faint: same };

const signs = { create: "+", update: "~", delete: "-" } as const;

const owned = (owner: Owner): string =>
  owner === null ? "" : ` (${owner === "No team" ? "no team" : `team ${owner}`})`;

/** Characters of a digest that are shown after a title. */
const DIGEST_SHOWN = 12;

/** Kinds with one object per owner need no name. */
export const titleOf = ({ kind, owner, name, title }: Pick<Change, "kind" | "owner" | "name" | "title">): string => {
  const called = title === undefined ? JSON.stringify(name) : `${JSON.stringify(title)} ${name.slice(0, DIGEST_SHOWN)}`;
  return printable(
    `${kinds[kind]?.noun ?? kind}${name === kind && !isDeletable(kind) ? "" : ` ${called}`}${kind === "team" ? "" : owned(owner)}`,
  );
};

export interface Summary {
  readonly add: number;
  readonly change: number;
  readonly remove: number;
}

export const summaryOf = (changes: readonly Change[]): Summary => ({
  add: changes.filter(({ action }) => action === "create").length,
  change: changes.filter(({ action }) => action === "update").length,
  remove: changes.filter(({ action }) => action === "delete").length,
});

/** A value that is longer than a line, or has several, is shown as a patch. */
const MAX_INLINE_LENGTH = 100;
/** The maximum number of lines shown per patch: nobody reads an endless report. */
const PATCH_MAX = 200;

/** The action and its object, and below it, indented, the fields. */
export function renderChange(
  change: Change,
  paint: Paint = unpainted,
  words: Readonly<Record<Change["action"], string>> = signs,
  defaults?: Defaults,
): string[] {
  const colour = { create: paint.added, update: paint.changed, delete: paint.removed }[change.action];
  return [
    colour(`${words[change.action]} ${titleOf(change)}`),
    ...aboutLines(change, paint),
    ...(change.action === "create" ? newLines(change, paint, defaults) : []),
    ...change.fields.flatMap((field) => fieldLines(field, paint)),
  ];
}

function aboutLines({ action, hosts, note }: Change, paint: Paint): string[] {
  const lines = note === undefined ? [] : [paint.faint(`    # ${printable(note)}`)];
  if (action !== "delete" || hosts === undefined) return lines;
  const { count, names } = hosts;
  const listed = names.map((name) => printable(name)).join(", ");
  const named =
    names.length === 0 ? "" : `: ${listed}${count > names.length ? ` and ${count - names.length} more` : ""}`;
  return [
    ...lines,
    `    ${paint.removed(`${count === 1 ? "1 host loses its" : `${count} hosts lose their`} team`)}${named}`,
  ];
}

/** Without `defaults`, new objects are shown with all of their fields. */
export function renderPlan(changes: readonly Change[], paint: Paint = unpainted, defaults?: Defaults): string {
  if (changes.length === 0) return "No changes: the server matches the files.\n";
  const lines = changes.flatMap((change) => renderChange(change, paint, signs, defaults));
  const { add, change, remove } = summaryOf(changes);
  const removing = remove > 0 ? paint.removed(`${remove} to remove`) : "0 to remove";
  return `${lines.join("\n")}\n\nPlan: ${add} to add, ${change} to change, ${removing}.\n`;
}

/** The fields of a new object: those that differ from the usual value of its kind, or all that are not empty. */
function newLines({ kind, value }: Change, paint: Paint, defaults: Defaults | undefined): string[] {
  const usual = defaults && kinds[kind]?.usual?.(defaults);
  if (usual === undefined) return isRecord(value) ? valueLines(Object.entries(value), paint) : [];
  const set = differences(usual, value).filter((field) => field.isSecret || field.new !== undefined);
  return set.flatMap(({ path, new: desired = "(secret)" }) => valueLines([[path, desired]], paint, true));
}

/** Without the empty values, unless `whole`. */
function valueLines(fields: readonly (readonly [string, Json])[], paint: Paint, whole = false): string[] {
  return fields.flatMap(([key, value]) => {
    if (!whole && isEmpty(value)) return [];
    const maskedValue = masked(value);
    if (!isLong(maskedValue))
      return [`    ${printable(key)}: ${maskedValue === "(secret)" ? maskedValue : shown(maskedValue)}`];
    const lines = capped(textOf(maskedValue).trimEnd().split("\n"));
    return [`    ${printable(key)}:`, ...lines.map((line) => `      ${paint.added(`+${shownLine(line)}`)}`)];
  });
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.values(value).every(isEmpty);
  return value === null || value === false || value === "";
}

function fieldLines(field: FieldChange, paint: Paint): string[] {
  const { path, old, new: desired, isSecret, variables } = field;
  const label = path === "" ? "value" : printable(path);
  if (isSecret) return [`    ${label}: ${paint.faint(`(secret) changed${fromVariables(variables)}`)}`];
  if (old === undefined && desired === undefined)
    return [`    ${label}: ${paint.faint(`changed: the value${fromVariables(variables)}`)}`];
  if (old === NOT_SHOWN)
    return [`    ${label}: ${paint.faint(NOT_SHOWN)} -> ${isLong(desired) ? "" : shown(desired!)}`].concat(
      isLong(desired)
        ? capped(textOf(desired).trimEnd().split("\n")).map((line) => `      ${paint.added(`+${shownLine(line)}`)}`)
        : [],
    );
  if (isLong(old) || isLong(desired))
    return [`    ${label}:`, ...patch(old, desired).map((line) => `      ${painted(line, paint)}`)];
  return [
    `    ${label}: ${old === undefined ? paint.faint("(none)") : shown(old)} -> ${desired === undefined ? paint.faint("(none)") : shown(desired)}`,
  ];
}

const fromVariables = (names: readonly string[] = []): string =>
  names.length === 0 ? "" : ` of ${names.map((name) => `$${name}`).join(" and ")}`;

const painted = (line: string, paint: Paint): string =>
  line.startsWith("+")
    ? paint.added(line)
    : line.startsWith("-")
      ? paint.removed(line)
      : line.startsWith("@@")
        ? paint.faint(line)
        : line;

const shown = (value: Json): string => visible(JSON.stringify(value));

const shownLine = (line: string): string => printableLines(line.replaceAll("\t", "  "));

function isLong(value: Json | undefined): boolean {
  if (value === undefined) return false;
  if (typeof value === "string") return value.includes("\n") || value.length > MAX_INLINE_LENGTH;
  return JSON.stringify(value).length > MAX_INLINE_LENGTH;
}

const textOf = (value: Json | undefined): string => {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.endsWith("\n") ? text : `${text}\n`;
};

/** The unified diff of two texts, without its header. */
function patch(old: Json | undefined, desired: Json | undefined): string[] {
  const diff = createTwoFilesPatch("", "", textOf(old), textOf(desired), undefined, undefined, { context: 2 });
  const lines = diff.split("\n").filter((line) => line !== "");
  const from = lines.findIndex((line) => line.startsWith("@@"));
  return capped(from === -1 ? [] : lines.slice(from)).map(shownLine);
}

const capped = (lines: readonly string[], most = PATCH_MAX): string[] =>
  lines.length <= most ? [...lines] : [...lines.slice(0, most), `... ${lines.length - most} more lines`];

/** Deletions that are listed by name. */
const MAX_LISTED = 100;
/** A comment on GitHub can have 65,536 characters. */
const COMMENT_MAX = 50_000;

/** For a comment on a pull request: deletions first, everything else folded. */
export function renderMarkdown(changes: readonly Change[], defaults?: Defaults): string {
  const { add, change, remove } = summaryOf(changes);
  if (changes.length === 0) return "### svc plan: no changes\n\nThe server matches the files.\n";
  const removed = changes.filter(({ action }) => action === "delete");
  const list = (listed: readonly Change[]) =>
    capped(
      listed.map(
        (change) =>
          `- ${code(titleOf(change))}${change.hosts ? `: hosts that lose their team: ${change.hosts.count}` : ""}`,
      ),
      MAX_LISTED,
    ).join("\n");
  return [
    `### svc plan: ${add} to add, ${change} to change, ${remove} to remove`,
    ...(removed.length === 0 ? [] : [`**Removes ${removed.length}:**\n\n${list(removed)}`]),
    `<details><summary>All changes</summary>\n\n${fenced(cut(renderPlan(changes, unpainted, defaults)))}\n\n</details>`,
    "",
  ].join("\n\n");
}

function cut(text: string): string {
  if (text.length <= COMMENT_MAX) return text;
  const kept = text.slice(0, text.lastIndexOf("\n", COMMENT_MAX) + 1);
  return `${kept}... truncated: see the output of \`svc plan\` for the complete plan\n`;
}

const longestTicks = (text: string): number => Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
const code = (text: string): string => {
  const ticks = "`".repeat(longestTicks(text) + 1);
  const pad = /^`|`$/.test(text) ? " " : "";
  return `${ticks}${pad}${text.replaceAll("\n", " ")}${pad}${ticks}`;
};
const fenced = (text: string): string => {
  const ticks = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${ticks}diff\n${text}${ticks}`;
};

/** For machines: complete, with long values in full. */
export const planJson = (changes: readonly Change[]) => ({
  summary: summaryOf(changes),
  changes: changes.map(({ action, kind, owner, name, title, fields, value, hosts, note }) => ({
    action,
    kind,
    team: owner,
    name,
    ...(title === undefined ? {} : { title }),
    ...(action === "create" ? { value: masked(value) } : {}),
    ...(hosts === undefined ? {} : { hosts }),
    ...(note === undefined ? {} : { note }),
    ...(fields.length === 0
      ? {}
      : {
          fields: fields.map(({ isSecret, ...field }) =>
            isSecret
              ? { path: field.path, secret: "changed", ...(field.variables ? { variables: field.variables } : {}) }
              : field,
          ),
        }),
  })),
});
