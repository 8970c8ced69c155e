// Names in exported files: of fields, of team files, and of variables for secrets.

import { z } from "zod";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { Owner } from "../plan/diff.ts";
import { spellingsOf, unwrapped } from "../schema/loosen.ts";
import { digest, type NameSecret, type Variable, type Variables } from "./text.ts";

/** The value with its fields in the schema's order and under the newer spellings, as it is written to files. */
export function newest(schema: z.ZodType, value: Json): Json {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((element) => newest(inner.element as z.ZodType, element));
  if (!(inner instanceof z.ZodObject) || !isRecord(value)) return value;
  const names = new Map(spellingsOf(inner).map(({ key, newer }) => [key, newer]));
  const order = Object.keys(inner.shape);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, part]): [string, Json] => {
        const field = inner.shape[key] as z.ZodType | undefined;
        return [names.get(key) ?? key, field ? newest(field, part) : part];
      })
      .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

/** A name that is a file's already: whatever the server returns, it stays in its folder. */
export const fileName = (name: string): string => name.replaceAll(/[/\\\0]/g, "_").replace(/^\.+$/, "_");

/** A name derived from the path of the secret. Entries of lists are named by the field that distinguishes them. */
export function nameSecret(root: Json, variables: Variables, owner: Owner): NameSecret {
  const team = owner === null ? [] : [owner];
  return (path) => {
    const steps: string[] = [];
    let at: Json = root;
    let entries = 0;
    for (const step of path) {
      if (Array.isArray(at)) {
        entries = at.length;
        at = at[Number(step)]!;
        steps.push(entryName(at) ?? String(Number(step) + 1));
      } else {
        at = isRecord(at) ? at[step]! : null;
        steps.push(step);
      }
    }
    const of = owner === null ? "" : ` of team ${owner}`;
    if (path.at(-1) === "secret") {
      const number = entries > 1 ? [steps.at(-2)!] : [];
      const about = ["enroll secret", ...number].join(" ") + of;
      return variables.add(["ENROLL_SECRET", ...team, ...number], about, about, "line");
    }
    const about = `${steps.join(".")}${of}`;
    const form = path.includes("api_key_json") ? "json" : "line";
    return variables.add([...steps.filter((step) => !frames.has(step)), ...team], about, about, form);
  };
}

/** Parts of a path that do not help to identify the secret. */
const frames = new Set(["org_settings", "team_settings", "integrations", "certificate_authorities", "api_key_json"]);

function entryName(value: Json): string | null {
  if (!isRecord(value)) return null;
  const name = value.name ?? value.domain ?? value.project_key ?? value.group_id;
  return typeof name === "string" || typeof name === "number" ? String(name) : null;
}

/** File names for teams: unique, whatever characters the team's name has, and never a path to another folder. */
export class FileNames {
  readonly #taken = new Set(["no-team", "unassigned"]);

  of(team: string): string {
    const kept = team
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 80)
      .replace(/^-+|-+$/g, "");
    // Windows reserves these names for devices.
    const isPlain = kept !== "" && !/^(con|prn|aux|nul|com\d|lpt\d)$/.test(kept) && !this.#taken.has(kept);
    const stem = isPlain ? kept : `${kept === "" ? "team" : kept}-${digest(team)}`;
    this.#taken.add(stem);
    return stem;
  }
}

/** The name that an exported file has: that of the object, if a file can have it. */
export const safeName = (name: string, extension: string): string => {
  const isPossible = /^[\p{L}\p{N}_][\p{L}\p{N} ._+()-]*$/u.test(name) && name.toLowerCase().endsWith(extension);
  return isPossible ? name : `${new FileNames().of(name)}${extension}`;
};

export function environmentFile(variables: readonly Variable[]): string {
  const lines = variables.flatMap(({ name, about, form }) => [
    `# ${about.replace(/\p{C}/gu, " ")}${form === "json" ? " (as in the key file, line ends as \\n)" : ""}`,
    `${name}=`,
  ]);
  return [
    "# The secrets that the files use; the server does not export them. Copy this file to .env and fill it in. Do not add",
    "# .env to the repository. `set -a; . ./.env; set +a` loads it into a shell.",
    ...lines,
    "",
  ].join("\n");
}
