// Reading all files of a run: what they say, checked against the schemas, with every problem of every file at its place.
import { type Collected, collect, ownerOf } from "./collect.ts";
import type { Owner } from "./diff.ts";
import { readDocuments, type Spec } from "./documents.ts";
import { newSources } from "./include.ts";
import { Problems } from "./problems.ts";
import { type GivenSecret, type Says, whatItSays } from "./says.ts";
import { readScopes, type Scope } from "./scope.ts";
import { SecretTexts } from "./secrets.ts";
import type { Environment } from "./substitute.ts";

export interface ReadOptions {
  /** What `$NAME` in files is looked up in. */
  readonly environment: Environment;
  /** What paths are relative to, and shown relative to. */
  readonly directory: string;
  /** Unknown nested keys become warnings. */
  readonly allowUnknownKeys: boolean;
  /** What the path `-` stands for. */
  readonly stdin?: string | null;
}

export interface FileScope extends Scope {
  readonly owner: Owner;
  readonly says: Says;
}

/** What the files say; no use for anything but messages once `problems.failed`. */
export interface Files {
  readonly scopes: readonly FileScope[];
  readonly items: Collected;
  /** Of files in the older format, which have no scopes; else null. */
  readonly specs: readonly Spec[] | null;
  readonly problems: Problems;
  /** Texts of secrets by their refs, as `POST /spec/state` and `POST /spec/apply` take them. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Hosts as manual labels name them. */
  readonly hosts: readonly (string | number)[];
}

export async function readFiles(
  paths: readonly string[],
  { environment, directory, allowUnknownKeys, stdin = null }: ReadOptions,
): Promise<Files> {
  const problems = new Problems();
  const sources = newSources(environment, directory, problems, stdin);
  const options = { problems, allowUnknownKeys };
  const secrets = new SecretTexts(problems);
  const documents = await readDocuments(paths, sources, secrets, options);
  if (documents) return filesOf([], documents.items, problems, secrets, documents.specs);
  const scopes = (await readScopes(paths, sources)).map((scope) => ({
    ...scope,
    owner: ownerOf(scope),
    says: whatItSays(scope, secrets, options),
  }));
  return filesOf(scopes, collect(scopes, options), problems, secrets, null);
}

function filesOf(
  scopes: readonly FileScope[],
  items: Collected,
  problems: Problems,
  { texts }: SecretTexts,
  specs: readonly Spec[] | null,
): Files {
  checkSecretsDiffer(
    [...scopes.map(({ says }) => says), ...(specs ?? [])].flatMap((one) => one.secrets ?? []),
    problems,
  );
  const hosts = [...new Set(items.labels.flatMap(({ value }) => value.hosts ?? []))];
  return { scopes, items, specs, problems, secrets: texts, hosts };
}

/** An enroll secret says which team a host is of. */
function checkSecretsDiffer(given: readonly GivenSecret[], problems: Problems): void {
  const seen = new Map<string, GivenSecret>();
  for (const one of given) {
    const before = seen.get(JSON.stringify(one.ref))?.at;
    if (!before) seen.set(JSON.stringify(one.ref), one);
    else problems.error(one.at, `the same enroll secret is in ${before.file}:${before.line} already`);
  }
}
