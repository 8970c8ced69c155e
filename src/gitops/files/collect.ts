// Collects labels, policies and queries of all files, and checks that their references exist.
import { NO_TEAM_NAME } from "../../api/configuration.ts";
import type { Owner } from "../plan/diff.ts";
import { LabelFile, PolicyFile, QueryFile } from "../schema/items.ts";
import { type CheckOptions, check } from "./check.ts";
import type { Place, Problems } from "./problems.ts";
import type { ListName, Scope } from "./scope.ts";
import { placeOf, type Tree } from "./tree.ts";

export interface Placed<T> {
  readonly value: T;
  readonly at: Place;
  readonly owner: Owner;
  /** The item's tree, for problems with one of its fields. */
  place(...path: string[]): Place;
}

export interface Collected {
  readonly labels: readonly Placed<LabelFile>[];
  readonly policies: readonly Placed<PolicyFile>[];
  readonly queries: readonly Placed<QueryFile>[];
  /** Owners whose labels, policies and queries the files list completely. */
  readonly complete: Readonly<Record<ListName, ReadonlySet<Owner>>>;
}

export interface Known {
  /** Names of built-in labels. */
  readonly builtinLabels: ReadonlySet<string>;
  /** The server's labels by name. Items may refer to labels that the files do not change. */
  readonly labels: ReadonlySet<string>;
}

export const ownerOf = ({ kind, name }: Pick<Scope, "kind" | "name">): Owner =>
  kind === "global" ? null : kind === "no_team" ? NO_TEAM_NAME : name;

export function collect(scopes: readonly Scope[], options: CheckOptions): Collected {
  const complete = { labels: new Set<Owner>(), policies: new Set<Owner>(), queries: new Set<Owner>() };
  const labels = scopes
    .filter(({ kind }) => kind === "global")
    .flatMap((scope) => itemsOf(scope, "labels", LabelFile, options));
  const policies = scopes.flatMap((scope) => itemsOf(scope, "policies", PolicyFile, options));
  const queries = scopes
    .filter(({ kind }) => kind !== "no_team")
    .flatMap((scope) => itemsOf(scope, "queries", QueryFile, options));
  for (const scope of scopes) {
    refuseWhereNot(scope, options);
    if (scope.kind === "global") complete.labels.add(null);
    complete.policies.add(ownerOf(scope));
    if (scope.kind !== "no_team") complete.queries.add(ownerOf(scope));
  }
  for (const { value, owner, place } of policies)
    if (owner === NO_TEAM_NAME && value.calendar_events_enabled)
      options.problems.error(
        place("calendar_events_enabled"),
        "calendar_events_enabled cannot be true for hosts without a team",
      );
  checkUniqueNames({ labels, policies, queries }, options);
  return { labels, policies, queries, complete };
}

export function checkUniqueNames(
  { labels, policies, queries }: Pick<Collected, "labels" | "policies" | "queries">,
  options: CheckOptions,
): void {
  checkUnique(labels, "label", () => "", options);
  checkUnique(policies, "policy", ({ owner }) => owner ?? "", options);
  checkUnique(queries, "query", ({ owner }) => owner ?? "", options);
}

/**
 * Checks that the labels of policies and queries will exist: in the files, or on the server if the files are not the
 * complete list.
 */
export function checkLabelUse(
  { labels, policies, queries, complete }: Collected,
  known: Known,
  problems: Problems,
): void {
  const usable = new Set([
    ...labels.map(({ value }) => value.name),
    ...(complete.labels.has(null) ? [] : known.labels),
  ]);
  for (const one of labels)
    if (known.builtinLabels.has(one.value.name))
      problems.error(one.at, `${JSON.stringify(one.value.name)} is a built-in label: it cannot be changed`);
  for (const one of policies)
    for (const field of ["labels_include_any", "labels_exclude_any"] as const)
      checkLabels(one, field, one.value[field], `policy ${JSON.stringify(one.value.name)}`, usable, known, problems);
  for (const one of queries) {
    const { name, labels_include_any: names } = one.value;
    checkLabels(one, "labels_include_any", names, `query ${JSON.stringify(name)}`, usable, known, problems);
  }
}

/** One label, policy or query; null, with the problems reported, if it does not match. */
export function placed<S extends typeof LabelFile | typeof PolicyFile | typeof QueryFile>(
  schema: S,
  tree: Tree,
  called: string,
  owner: Owner,
  options: CheckOptions,
): Placed<ReturnType<S["parse"]>> | null {
  const value = check(schema, tree, called, options) as ReturnType<S["parse"]> | null;
  return value === null ? null : { value, at: at(tree), owner, place: (...path) => placeOf(tree, path) };
}

function itemsOf<S extends typeof LabelFile | typeof PolicyFile | typeof QueryFile>(
  scope: Scope,
  list: ListName,
  schema: S,
  options: CheckOptions,
): Placed<ReturnType<S["parse"]>>[] {
  const { items = [], called = list } = scope.lists[list] ?? {};
  return items.flatMap(({ tree }, i) => placed(schema, tree, `${called}.${i}`, ownerOf(scope), options) ?? []);
}

const at = (tree: Tree): Place => placeOf(tree, ["name"]);

/** Keys that a file of this kind cannot have. */
function refuseWhereNot({ kind, lists }: Scope, { problems }: CheckOptions): void {
  const queries = lists.queries;
  if (kind === "no_team" && queries && queries.items.length > 0)
    problems.error(queries.key, "hosts without a team cannot have queries: define them globally or for a team");
  const labels = lists.labels;
  if (kind === "global" || !labels || labels.items.length === 0) return;
  if (kind === "no_team") problems.warn(labels.key, "labels are ignored in the file of hosts without a team");
  else problems.error(labels.key, "this server does not support labels of teams yet: define them in the global file");
}

function checkUnique<T extends { readonly name: string }>(
  items: readonly Placed<T>[],
  what: string,
  scopeOf: (item: Placed<T>) => string,
  { problems }: CheckOptions,
): void {
  const seen = new Map<string, Placed<T>>();
  for (const item of items) {
    const key = JSON.stringify([scopeOf(item), item.value.name]);
    const before = seen.get(key);
    if (!before) seen.set(key, item);
    else
      problems.error(
        item.at,
        `the ${what} ${JSON.stringify(item.value.name)} is already defined in ${before.at.file}:${before.at.line}`,
      );
  }
}

function checkLabels(
  item: Placed<unknown>,
  field: string,
  names: readonly string[],
  who: string,
  usable: ReadonlySet<string>,
  known: Known,
  problems: Problems,
): void {
  for (const name of names) {
    if (known.builtinLabels.has(name))
      problems.error(item.place(field), `${who} cannot use the built-in label ${JSON.stringify(name)}: use platform`);
    else if (!usable.has(name))
      problems.error(item.place(field), `${who} uses the label ${JSON.stringify(name)}, which will not exist`);
  }
}
