// Reads all files of a run and checks them against the schemas. Every problem of every file is reported with its
// place.

import type { Masks } from "../environment/masks.ts";
import { Environment, type EnvironmentValues } from "../environment/variables.ts";
import { itemKinds, kindList } from "../kinds.ts";
import type { Owner } from "../plan/diff.ts";
import { type CollectedItems, collect, ownerOf, withVariables } from "./collect.ts";
import { rootsOf } from "./disk.ts";
import { readDocuments } from "./documents.ts";
import { absolute, newSources, type Sources } from "./include.ts";
import type { LargeFile } from "./large-files.ts";
import { Problems } from "./problems.ts";
import { readScopes, type Scope } from "./scope.ts";
import { SecretTexts } from "./secrets.ts";
import { type SectionValues, sectionValues } from "./section-values.ts";
import type { Spec } from "./spec.ts";

export interface ReadOptions {
  /** The environment in which `$NAME` is looked up. */
  readonly environment: EnvironmentValues;
  /** The names of variables that files may use, `*` at the end stands for further characters; null: all. */
  readonly allowedNames?: readonly string[] | null;
  /** Paths are resolved and shown relative to this folder. */
  readonly directory: string;
  /** Unknown nested keys become warnings. */
  readonly allowUnknownKeys: boolean;
  /** The content of the path `-`. */
  readonly stdin?: string | null;
}

export interface FileScope extends Scope {
  readonly owner: Owner;
  readonly values: SectionValues;
}

/** The content of the files. If `problems.failed` is true, only the messages are of use. */
export interface Files {
  readonly scopes: readonly FileScope[];
  readonly items: CollectedItems;
  /** For files in the older format, which have no scopes; otherwise null. */
  readonly specs: readonly Spec[] | null;
  readonly problems: Problems;
  /** Secret texts by reference, as `POST /spec/state` and `POST /spec/apply` take them. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Contents of the files that hosts get, by their SHA-256 digests in hex. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Large files that are uploaded before an apply, by their SHA-256 digests in hex. */
  readonly uploads: ReadonlyMap<string, LargeFile>;
  /** Values of the custom variables that these files name. */
  readonly variables: ReadonlyMap<string, string>;
  /** The values of the environment's variables, which must not be printed. */
  readonly masks: Masks;
  /** Hosts that items name. */
  readonly hosts: readonly (string | number)[];
}

export async function readFiles(
  paths: readonly string[],
  { environment: values, allowedNames = null, directory, allowUnknownKeys, stdin = null }: ReadOptions,
): Promise<Files> {
  const environment = new Environment(values, allowedNames);
  const problems = new Problems();
  const main = new Set(paths.map((path) => absolute(path, { directory })));
  const roots = await rootsOf([...main], directory);
  const sources = newSources({ environment, directory, problems, stdin, main, roots });
  const options = { problems, allowUnknownKeys };
  const secrets = new SecretTexts(problems);
  const documents = await readDocuments(paths, sources, secrets, options);
  if (documents) return filesOf([], documents.items, sources, secrets, documents.specs);
  const scopes = (await readScopes(paths, sources)).map((scope) => ({
    ...scope,
    owner: ownerOf(scope),
    values: sectionValues(scope, secrets, options),
  }));
  for (const scope of scopes) for (const [, { check }] of kindList) check?.(scope, problems);
  return filesOf(scopes, collect(scopes, options), sources, secrets, null);
}

function filesOf(
  scopes: readonly FileScope[],
  collected: CollectedItems,
  sources: Sources,
  secrets: SecretTexts,
  specs: readonly Spec[] | null,
): Files {
  const {
    problems,
    contents,
    uploads,
    variables,
    environment: { masks },
  } = sources;
  const { texts } = secrets;
  const items = withVariables(collected, sources, secrets);
  const hosts = [
    ...new Set(
      itemKinds.flatMap(
        ({ kind, items: { hosts } }) => items.get(kind)?.flatMap(({ value }) => hosts?.(value) ?? []) ?? [],
      ),
    ),
  ];
  return { scopes, items, specs, problems, secrets: texts, contents, uploads, variables, masks, hosts };
}
