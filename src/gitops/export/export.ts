// Exports the server's state to files from which a plan is empty.

import type { z } from "zod";
import type { ConfigurationState } from "../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { customVariablesIn } from "../files/substitute.ts";
import { kindList, kinds, listKinds } from "../kinds.ts";
import type { Owner } from "../plan/diff.ts";
import { compareTexts } from "../plan/values.ts";
import { isExcepted } from "../schema/exceptions.ts";
import { movedSettings, valueAt, withoutValueAt, withValueAt } from "../schema/moved.ts";
import { type ScopeKind, schemaOf, settingsOf } from "../schema/sections.ts";
import { Software } from "../schema/software.ts";
import { changed, type Fields, fieldsOf } from "./fields.ts";
import { environmentFile, FileNames, nameSecret, newest } from "./names.ts";
import { type ExportedDownload, type ExportedSections, type ExportScope, Objects } from "./scope.ts";
import { type Variable, Variables, yamlOf } from "./text.ts";

export interface ExportedFiles {
  /** File contents by path below the directory, with `/`. */
  readonly files: ReadonlyMap<string, string>;
  /** Files that are not text, by path. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Files to download, by path. */
  readonly downloads: ReadonlyMap<string, ExportedDownload>;
  /** The environment variables that a plan of these files needs. */
  readonly variables: readonly Variable[];
}

/** The maximum size in characters of a file of items: far below the reader's limit of 8 MiB. */
const FRAGMENT_MAX = 1024 * 1024;

export function exportFiles({
  things: all,
  defaults,
  files: configurationFiles = {},
  gitops_exceptions: exceptions,
}: Pick<ConfigurationState, "things" | "defaults" | "files" | "gitops_exceptions">): ExportedFiles {
  // What people change by hand is not in files.
  const isByHand = (kind: string): boolean => isExcepted(kinds[kind]?.exception, exceptions);
  const things = all.filter(({ kind }) => !isByHand(kind));
  const variables = new Variables();
  const files = new Map<string, string>();
  const contents = new Map<string, Uint8Array>();
  const downloads = new Map<string, ExportedDownload>();
  /** The files by the custom variable that they name. */
  const usedIn = new Map<string, string[]>();
  const objects = new Objects(things, configurationFiles);
  const writerOf = (file: ScopeKind, owner: Owner, stem: string): Writer => {
    const addFile = (path: string, text: string) => void files.set(path, text);
    const addHostFile = (path: string, text: string) => {
      addFile(path, text);
      for (const { name } of customVariablesIn(text)) usedIn.set(name, [...(usedIn.get(name) ?? []), path]);
    };
    const addContent = (path: string, content: Uint8Array) => void contents.set(path, content);
    const addDownload = (path: string, download: ExportedDownload) => void downloads.set(path, download);
    const adding = { addFile, addHostFile, addContent, addDownload };
    return { file, owner, stem, objects, defaults, variables, isByHand, ...adding };
  };
  writeGlobal(writerOf("global", null, ""));
  const names = new FileNames();
  for (const { name } of objects.all(null, "team")) writeTeam(writerOf("team", name, names.of(name)));
  writeNoTeam(writerOf("no_team", NO_TEAM_NAME, "no-team"));
  for (const { name } of objects.all(null, "custom_variable"))
    if (!usedIn.has(SECRET_PREFIX + name)) usedIn.set(SECRET_PREFIX + name, []);
  for (const name of [...usedIn.keys()].sort(compareTexts)) variables.addNamed(name, aboutVariable(usedIn.get(name)!));
  files.set(".gitignore", ".env\nplan.json\n");
  files.set(".env.example", environmentFile(variables.all));
  return { files, contents, downloads, variables: variables.all };
}

const FILES_SHOWN = 3;

/** The files may have the same variable many times. */
function aboutVariable(files: readonly string[]): string {
  const all = [...new Set(files)];
  const more = all.length > FILES_SHOWN ? ` and ${all.length - FILES_SHOWN} more` : "";
  if (all.length === 0) return "custom variable; left empty, its value stays";
  return `custom variable in ${all.slice(0, FILES_SHOWN).join(", ")}${more}`;
}

interface Writer extends ExportScope {
  readonly variables: Variables;
  isByHand(kind: string): boolean;
}

function writeGlobal(writer: Writer): void {
  const { settings, agent_options, controls } = sectionsOf(writer);
  const file: Fields = {
    org_settings: settings,
    ...agent_options,
    // Always in this file, never in that for hosts without a team: exactly one of the two defines them.
    controls,
    ...listsOf(writer),
  };
  const head =
    "# The global configuration. Written by `svc export`; `svc plan -f default.yml -f teams/*.yml` shows what differs.\n";
  write(writer, "default.yml", file, head);
}

function writeTeam(writer: Writer): void {
  const { settings, agent_options, controls, software } = sectionsOf(writer);
  const file: Fields = {
    name: writer.owner,
    settings,
    ...agent_options,
    ...(Object.keys(controls).length > 0 ? { controls } : {}),
    ...software,
    ...listsOf(writer),
  };
  write(writer, `teams/${writer.stem}.yml`, file);
}

function writeNoTeam(writer: Writer): void {
  const { settings, software } = sectionsOf(writer);
  const lists = { ...software, ...listsOf(writer) };
  const isEmpty = Object.values(lists).every((list) => Array.isArray(list) && list.length === 0);
  if (isEmpty && Object.keys(settings).length === 0) return;
  write(writer, "teams/no-team.yml", { name: NO_TEAM_NAME, settings, ...lists });
}

/** The sections with the fields of all kinds, in their order and under their names in files. */
function sectionsOf(writer: Writer): { settings: Fields; agent_options: Fields; controls: Fields; software: Fields } {
  const { file } = writer;
  const parts = kindList.map(([, kind]): ExportedSections => kind.exported?.(writer) ?? {});
  const merged = (key: "settings" | "controls" | "software"): Fields => {
    const fields: Record<string, Json> = {};
    // Several kinds may write to the same object, such as android_settings.
    for (const [name, value] of parts.flatMap((part) => Object.entries(part[key] ?? {})))
      fields[name] = isRecord(value) ? { ...fieldsOf(fields[name]), ...value } : value;
    return fields;
  };
  const software = merged("software");
  const options = parts.find(({ agent_options }) => agent_options !== undefined)?.agent_options;
  return {
    settings: fieldsOf(newest(schemaOf(settingsOf(file), file)!, merged("settings"))),
    agent_options: options === undefined ? {} : { agent_options: options },
    controls: inFiles(schemaOf("controls", file)!, merged("controls")),
    software: Object.keys(software).length === 0 ? {} : { software: newest(Software, software) },
  };
}

/** The controls under their names in files; some of them belong to another object there. */
function inFiles(schema: z.ZodType, controls: Fields): Fields {
  const moved = movedSettings.reduce<Fields>((left, { setting, key }) => {
    const value = valueAt(left, setting);
    const rest = withoutValueAt(left, setting);
    return (value === undefined || value === null ? rest : withValueAt(rest, key, value)) as Fields;
  }, controls);
  return fieldsOf(newest(schema, moved));
}

const listsOf = (writer: Writer): Fields =>
  Object.fromEntries(
    listKinds
      .filter(({ kind, items }) => items.notIn?.[writer.file] === undefined && !writer.isByHand(kind))
      .map((list) => [list.items.newer ?? list.items.list, itemsOf(writer, list)]),
  );

/** The items of a list: inline for a team with few of them, otherwise in files of their own. */
function itemsOf(writer: Writer, { kind, items }: (typeof listKinds)[number]): Json {
  const { schema, defaults, list, newer } = items;
  const { objects, owner, stem } = writer;
  const all = objects.all(owner, kind).map(({ name, value }) => {
    const fields = changed(fieldsOf(value), defaults);
    return newest(schema, { name, ...(items.inFile?.(fields) ?? fields) });
  });
  const parts = partsOf(all);
  if (all.length === 0 || (owner !== null && parts.length === 1)) return all;
  return parts.map((part, i) => {
    const name = `${stem === "" ? "" : `${stem}.`}${newer ?? list}${parts.length === 1 ? "" : `-${i + 1}`}.yml`;
    write(writer, `lib/${name}`, part);
    return { path: `${owner === null ? "lib" : "../lib"}/${name}` };
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

function write({ addFile, variables, owner }: Writer, path: string, value: Json, head = ""): void {
  addFile(path, `${head}${yamlOf(value, nameSecret(value, variables, owner))}`);
}
