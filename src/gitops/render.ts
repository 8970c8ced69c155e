// A plan as people read it: on a terminal, and in a pull request.
import { createTwoFilesPatch } from "diff";
import type { Change, FieldChange, Json, Kind, Owner } from "./diff.ts";

export interface Paint {
  added(text: string): string;
  changed(text: string): string;
  removed(text: string): string;
  faint(text: string): string;
}
const same = (text: string) => text;
export const unpainted: Paint = { added: same, changed: same, removed: same, faint: same };

const nouns: Readonly<Record<Kind, string>> = {
  config: "settings",
  certificate_authority: "certificate authority",
  label: "label",
  team: "team",
  agent_options: "agent options",
  team_settings: "team settings",
  enroll_secrets: "enroll secrets",
  policy: "policy",
  query: "query",
};
const signs = { create: "+", update: "~", delete: "-" } as const;
/** What there is one of in its scope needs no name. */
const single = new Set<Kind>(["agent_options", "team_settings", "enroll_secrets"]);

const owned = (owner: Owner): string =>
  owner === null ? "" : ` (${owner === "No team" ? "no team" : `team ${owner}`})`;

export const titleOf = ({ kind, owner, name }: Pick<Change, "kind" | "owner" | "name">): string =>
  `${nouns[kind]}${single.has(kind) ? "" : ` ${JSON.stringify(name)}`}${kind === "team" ? "" : owned(owner)}`;

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

/** A value that is longer than a line, or has several, is told as a patch. */
const LINE = 100;
/** Lines of one patch that are shown; a report that nobody reads to its end helps nobody. */
const PATCH_MAX = 200;

export function renderPlan(changes: readonly Change[], paint: Paint = unpainted): string {
  if (changes.length === 0) return "No changes: the server is as the files say.\n";
  const lines = changes.flatMap((change) => {
    const colour = { create: paint.added, update: paint.changed, delete: paint.removed }[change.action];
    return [
      colour(`${signs[change.action]} ${titleOf(change)}`),
      ...change.fields.flatMap((field) => fieldLines(field, paint)),
    ];
  });
  const { add, change, remove } = summaryOf(changes);
  const removing = remove > 0 ? paint.removed(`${remove} to remove`) : "0 to remove";
  return `${lines.join("\n")}\n\nPlan: ${add} to add, ${change} to change, ${removing}.\n`;
}

function fieldLines(field: FieldChange, paint: Paint): string[] {
  const { path, old, new: wanted, isSecret } = field;
  const label = path === "" ? "value" : path;
  if (isSecret) return [`    ${label}: ${paint.faint("(secret) changed")}`];
  if (isLong(old) || isLong(wanted))
    return [`    ${label}:`, ...patch(old, wanted).map((line) => `      ${painted(line, paint)}`)];
  return [
    `    ${label}: ${old === undefined ? paint.faint("(none)") : shown(old)} -> ${wanted === undefined ? paint.faint("(none)") : shown(wanted)}`,
  ];
}

const painted = (line: string, paint: Paint): string =>
  line.startsWith("+")
    ? paint.added(line)
    : line.startsWith("-")
      ? paint.removed(line)
      : line.startsWith("@@")
        ? paint.faint(line)
        : line;

const shown = (value: Json): string => visible(JSON.stringify(value));

/** Nothing of a file may steer a terminal. */
const visible = (text: string): string =>
  text.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function isLong(value: Json | undefined): boolean {
  if (value === undefined) return false;
  if (typeof value === "string") return value.includes("\n") || value.length > LINE;
  return JSON.stringify(value).length > LINE;
}

const textOf = (value: Json | undefined): string => {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.endsWith("\n") ? text : `${text}\n`;
};

/** The unified diff of two texts, without its head. */
function patch(old: Json | undefined, wanted: Json | undefined): string[] {
  const made = createTwoFilesPatch("", "", textOf(old), textOf(wanted), undefined, undefined, { context: 2 });
  const lines = made.split("\n").filter((line) => line !== "");
  const from = lines.findIndex((line) => line.startsWith("@@"));
  const body = (from === -1 ? [] : lines.slice(from)).map((line) => visible(line.replaceAll("\t", "  ")));
  if (body.length <= PATCH_MAX) return body;
  return [...body.slice(0, PATCH_MAX), `... ${body.length - PATCH_MAX} more lines`];
}

/** For a comment on a pull request: what goes first, everything else folded. */
export function renderMarkdown(changes: readonly Change[]): string {
  const { add, change, remove } = summaryOf(changes);
  if (changes.length === 0) return "### svc plan: no changes\n\nThe server is as the files say.\n";
  const removed = changes.filter(({ action }) => action === "delete");
  const list = (some: readonly Change[]) => some.map((one) => `- ${code(titleOf(one))}`).join("\n");
  return [
    `### svc plan: ${add} to add, ${change} to change, ${remove} to remove`,
    ...(removed.length === 0 ? [] : [`**Removes ${removed.length}:**\n\n${list(removed)}`]),
    `<details><summary>All changes</summary>\n\n${fenced(renderPlan(changes))}\n\n</details>`,
    "",
  ].join("\n\n");
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

/** For machines: as it is, long values whole. */
export const planJson = (changes: readonly Change[]) => ({
  summary: summaryOf(changes),
  changes: changes.map(({ action, kind, owner, name, fields }) => ({
    action,
    kind,
    team: owner,
    name,
    ...(fields.length === 0
      ? {}
      : {
          fields: fields.map(({ isSecret, ...field }) => (isSecret ? { path: field.path, secret: "changed" } : field)),
        }),
  })),
});
