// The older format: documents of {apiVersion, kind, spec}. Objects that are not in them stay as they are.

import { basename } from "node:path";
import { z } from "zod";
import { YARA_RULES_MAX, YaraRule } from "../../api/app-config.ts";
import { kindShapes, NO_TEAM_NAME, type ThingKind } from "../../api/configuration.ts";
import { nearest } from "../../text/nearest.ts";
import { isRecord } from "../../text/record.ts";
import { itemKinds } from "../kinds.ts";
import type { Owner } from "../plan/diff.ts";
import { spelled, spellingsOf } from "../schema/loosen.ts";
import {
  AgentOptionsFile,
  EnrollSecrets,
  GlobalControls,
  OrgSettings,
  orgMdmKeys,
  orgSections,
  TeamControls,
  TeamSettings,
} from "../schema/settings.ts";
import type { CheckOptions } from "./check.ts";
import { type Collected, checkUniqueNames, type Placed, placed } from "./collect.ts";
import { absolute, readSource, type Sources, shownAs } from "./include.ts";
import type { Value } from "./overlay.ts";
import { type Place, startOf } from "./problems.ts";
import { checkOrgSettings, checkTeamSettings, reporterOf } from "./rules.ts";
import { checked, enrollSecrets, type GivenSecret, subtree, wholeControls, withRefs } from "./says.ts";
import type { SecretTexts } from "./secrets.ts";
import { type Mapping, parseTrees, placeOf, type Tree } from "./tree.ts";

/** The content of one document about a team, or about the organization (`name` is null). */
export interface Spec {
  readonly name: string | null;
  readonly at: Place;
  /** Sections by name; `mdm` contains the fields of controls. Sections that are absent are not changed. */
  readonly settings: Value;
  readonly secrets: readonly GivenSecret[] | undefined;
}

export interface Documents {
  readonly specs: readonly Spec[];
  readonly items: Collected;
}

const kinds = ["query", "team", "pack", "label", "policy", "config", "enroll_secret", "user_roles"] as const;
type Kind = (typeof kinds)[number];

/** Keys that no file of the newer format has. */
const isOlder = (text: string): boolean => /^["']?(apiVersion|kind)["']?[ \t]*:/m.test(text);

/** The documents, if the files have the older format; otherwise null. */
export async function readDocuments(
  paths: readonly string[],
  sources: Sources,
  secrets: SecretTexts,
  options: CheckOptions,
): Promise<Documents | null> {
  const texts = new Map<string, string>();
  for (const path of paths) {
    if (basename(path).trim() === "") continue;
    const whole = absolute(path, sources);
    // Unreadable files are reported later, when all files are read.
    const text = await readSource(whole, startOf(shownAs(whole, sources)), sources);
    if (text !== null) texts.set(whole, text);
  }
  const older = [...texts].filter(([, text]) => isOlder(text));
  if (older.length === 0) return null;
  for (const [path, text] of texts)
    if (!isOlder(text))
      options.problems.error(
        startOf(shownAs(path, sources)),
        `documents with apiVersion and kind, as in ${shownAs(older[0]![0], sources)}, cannot be mixed with this file`,
      );
  const reader = new DocumentReader(secrets, options);
  for (const [path, text] of older) {
    const shown = shownAs(path, sources);
    for (const tree of parseTrees(text, shown, sources.environment, options.problems)) if (tree) reader.read(tree);
  }
  return reader.done();
}

const MdmOfTeam = TeamControls;
const MdmOfOrganization = spelled(
  {
    ...GlobalControls.shape,
    ...Object.fromEntries(
      orgMdmKeys.map((key) => [key, (OrgSettings.shape.mdm!.unwrap().unwrap() as z.ZodObject).shape[key] as z.ZodType]),
    ),
  },
  spellingsOf(GlobalControls),
);
const TeamSpec = z.strictObject({
  ...TeamSettings.shape,
  name: z.string().min(1).max(255),
  agent_options: AgentOptionsFile.nullish(),
  mdm: MdmOfTeam.nullish(),
});
/** Fields of replies that are not settings; they are ignored. */
const ignored = Object.fromEntries(
  ["license", "logging", "update_interval", "vulnerabilities", "scripts"].map((key) => [key, z.json().optional()]),
);
const ConfigSpec = z.strictObject({
  ...Object.fromEntries(Object.entries(orgSections).map(([name, schema]) => [name, schema.nullish()])),
  ...ignored,
  agent_options: AgentOptionsFile.nullish(),
  mdm: MdmOfOrganization.nullish(),
  yara_rules: z
    .array(z.strictObject(YaraRule.shape))
    .max(YARA_RULES_MAX)
    .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, { error: "names must be unique" })
    .nullish(),
});
const SecretSpec = z.strictObject({ secrets: EnrollSecrets });

class DocumentReader {
  readonly #specs: Spec[] = [];
  readonly #items = new Map<ThingKind, Placed<{ readonly name: string }>[]>(itemKinds.map(({ kind }) => [kind, []]));
  readonly #secrets: SecretTexts;
  readonly #options: CheckOptions;
  #config: Place | null = null;

  constructor(secrets: SecretTexts, options: CheckOptions) {
    this.#secrets = secrets;
    this.#options = options;
  }

  read(document: Tree): void {
    const { problems } = this.#options;
    if (document.kind !== "map") {
      problems.error(document.at, "a document must be an object with apiVersion, kind and spec");
      return;
    }
    for (const [key, { key: at }] of document.entries)
      if (!["apiVersion", "kind", "spec"].includes(key)) problems.error(at, `unknown key ${key}`);
    const kind = this.#kindOf(document);
    const spec = document.entries.get("spec")?.value;
    if (spec?.kind !== "map") problems.error(spec?.at ?? document.at, "spec is missing: it must be an object");
    else if (kind) this.#add(kind, spec);
  }

  #kindOf(document: Mapping): Kind | null {
    const { problems } = this.#options;
    const entry = document.entries.get("kind");
    const text = entry?.value.kind === "leaf" ? String(entry.value.value ?? "") : "";
    const known = kinds.find((one) => one === text.toLowerCase());
    if (known) return known;
    const near = nearest(text.toLowerCase(), kinds);
    if (text === "") problems.error(entry?.key ?? document.at, `kind is missing: it is one of ${kinds.join(", ")}`);
    else problems.error(entry!.value.at, `unknown kind ${text}${near ? `; did you mean ${near}?` : ""}`);
    return null;
  }

  #add(kind: Kind, spec: Mapping): void {
    const { problems } = this.#options;
    const options = this.#options;
    const list = itemKinds.find((one) => one.kind === kind);
    if (list) this.#item(list, spec);
    else if (kind === "team") this.#team(spec);
    else if (kind === "config") {
      if (this.#config)
        problems.error(
          spec.at,
          `there is already a config in ${this.#config.file}:${this.#config.line}: only one is allowed`,
        );
      this.#config = spec.at;
      this.#organization(spec);
    } else if (kind === "enroll_secret") {
      const value = checked(SecretSpec, spec, "spec", options);
      if (value) this.#keep(null, spec, {}, value);
    } else if (kind === "pack")
      problems.error(spec.at, "packs cannot be applied from files: use queries with an interval");
    else problems.error(spec.at, "users cannot be managed with files");
  }

  #item(list: (typeof itemKinds)[number], spec: Mapping): void {
    const isOfTeam = kindShapes[list.kind].owners.some((owner) => owner !== "global");
    const own = without(spec, [...(isOfTeam ? ["team"] : []), ...(list.items.ignoredInDocuments ?? [])]);
    this.#items
      .get(list.kind)!
      .push(...placed(list, own, "spec", isOfTeam ? this.#ownerOf(spec) : null, this.#options));
  }

  #team(spec: Mapping): void {
    const body = spec.entries.get("team")?.value;
    if (body?.kind !== "map" || spec.entries.size > 1) {
      this.#options.problems.error(spec.at, "the spec of a team must have exactly one key, team");
      return;
    }
    const value = checked(TeamSpec, body, "spec.team", this.#options);
    if (!value) return;
    checkTeamSettings(value, reporterOf(body, "spec.team", this.#options.problems));
    this.#keep(teamName(value.name), body, value, value, "spec.team");
  }

  #organization(spec: Mapping): void {
    const value = checked(ConfigSpec, spec, "spec", this.#options);
    if (!value) return;
    checkOrgSettings(value, reporterOf(spec, "spec", this.#options.problems));
    const settings = Object.entries(withRefs(value, spec, this.#secrets, "spec")).filter(
      ([key]) => !Object.hasOwn(ignored, key),
    );
    this.#keep(null, spec, Object.fromEntries(settings), {});
  }

  #keep(name: string | null, tree: Mapping, given: Value, secret: Value, called = "spec"): void {
    const { secrets: _secrets, name: _name, ...settings } = given;
    const mdm = isRecord(settings.mdm)
      ? { mdm: wholeControls(settings.mdm, subtree(tree, ["mdm"]), `${called}.mdm`, this.#options) }
      : {};
    this.#specs.push({
      name,
      at: placeOf(tree, ["name"]),
      settings: { ...settings, ...mdm },
      secrets: enrollSecrets(secret, tree, called, this.#secrets),
    });
  }

  #ownerOf(spec: Mapping): Owner {
    const entry = spec.entries.get("team")?.value;
    const name = entry?.kind === "leaf" ? teamName(entry.value ?? "") : "";
    if (entry && entry.kind !== "leaf") this.#options.problems.error(entry.at, "team must be the name of a team");
    return name === "" ? null : name.toLowerCase() === NO_TEAM_NAME.toLowerCase() ? NO_TEAM_NAME : name;
  }

  done(): Documents {
    checkUniqueNames(this.#items, this.#options);
    return { specs: this.#specs, items: this.#items };
  }
}

const teamName = (given: unknown): string => String(given).normalize("NFC").trim();
const without = (tree: Mapping, keys: readonly string[]): Mapping => ({
  ...tree,
  entries: new Map([...tree.entries].filter(([key]) => !keys.includes(key))),
});
