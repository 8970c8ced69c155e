// Collects the items of the lists in all files.
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import { itemKinds, kinds } from "../kinds.ts";
import type { Owner } from "../plan/diff.ts";
import type { CustomVariable } from "../schema/variables.ts";
import { type CheckOptions, check } from "./check.ts";
import type { Item, Sources } from "./include.ts";
import { listKey, listsOf, type Place, startOf } from "./problems.ts";
import type { Scope } from "./scope.ts";
import type { SecretTexts } from "./secrets.ts";
import { placeOf } from "./tree.ts";

export interface PlacedItem<T> {
  readonly value: T;
  readonly at: Place;
  readonly owner: Owner;
  /** The file that contains it; empty for documents of the older format. */
  readonly file: string;
  /** The item's tree, for problems with one of its fields. */
  place(...path: string[]): Place;
}

/** The items of each kind that stands in lists. */
export type CollectedItems = ReadonlyMap<string, readonly PlacedItem<{ readonly name: string }>[]>;

export const ownerOf = ({ kind, name }: Pick<Scope, "kind" | "name">): Owner =>
  kind === "global" ? null : kind === "no_team" ? NO_TEAM_NAME : name;

type ItemKind = (typeof itemKinds)[number];
/** The kind of custom variables. */
const ofVariables = itemKinds.find(({ items }) => items.isOfAllFiles)!;

/** Adds to each item what it says of objects of other kinds. */
export function link(
  items: Map<string, readonly PlacedItem<{ readonly name: string }>[]>,
  { problems }: CheckOptions,
): void {
  for (const { kind, items: definition } of itemKinds)
    if (definition.linked)
      items.set(
        kind,
        (items.get(kind) ?? []).map((item) => ({ ...item, value: definition.linked!(item, items, problems) })),
      );
}

export function collect(scopes: readonly Scope[], options: CheckOptions): CollectedItems {
  const items = new Map<string, readonly PlacedItem<{ readonly name: string }>[]>(
    itemKinds.map((itemKind) => [itemKind.kind, scopes.flatMap((scope) => itemsOf(scope, itemKind, options))] as const),
  );
  checkUniqueNames(items, options);
  link(items, options);
  return items;
}

/** An item that matches the schema of its kind; otherwise the problems are reported. */
export function placed(
  { items }: ItemKind,
  { tree, fileFields, schema = items.schema, file = "" }: Pick<Item, "tree" | "fileFields" | "schema"> & Partial<Item>,
  called: string,
  owner: Owner,
  options: CheckOptions,
) {
  const checked = check(schema, tree, called, options);
  if (checked === null) return [];
  const value = (fileFields ? { ...checked, ...fileFields } : checked) as { readonly name: string };
  const item = { value, at: placeOf(tree, ["name"]), owner, file, place: (...path: string[]) => placeOf(tree, path) };
  items.check?.(item, options.problems);
  return [item];
}

function itemsOf(scope: Scope, itemKind: ItemKind, options: CheckOptions): PlacedItem<{ readonly name: string }>[] {
  const list = scope.lists[itemKind.kind];
  if (!list || list.items.length === 0) return [];
  const { [scope.kind]: refusal } = itemKind.items.notIn ?? {};
  if (refusal) options.problems[refusal.as](list.key, refusal.message);
  if (refusal) return [];
  const owner = ownerOf(scope);
  return options.problems.checking(listKey(itemKind.kind, owner), () =>
    list.items.flatMap((item, i) =>
      placed(itemKind, item, `${item.called ?? list.called}.${item.index ?? i}`, owner, options),
    ),
  );
}

export function checkUniqueNames(collected: CollectedItems, { problems }: CheckOptions): void {
  for (const [kind, items] of collected) {
    const seen = new Map<string, Place>();
    for (const { value, owner, at } of items) {
      const key = JSON.stringify([owner, value.name]);
      const before = seen.get(key);
      if (!before) seen.set(key, at);
      else if (!problems.isIncomplete(listsOf(owner)))
        problems.error(
          at,
          `the ${kinds[kind]?.noun} ${JSON.stringify(value.name)} is already defined in ${before.file}:${before.line}`,
        );
    }
  }
}

/** The items with values from the environment. A variable that is listed, but has no value there, keeps its value. */
export function withVariables(
  items: CollectedItems,
  { environment, variables, main }: Sources,
  secrets: SecretTexts,
): CollectedItems {
  const listed = (items.get(ofVariables.kind) ?? []) as readonly PlacedItem<CustomVariable>[];
  for (const { value } of listed) {
    const text = environment.optionalValueOf(SECRET_PREFIX + value.name);
    if (text !== "") variables.set(value.name, text);
  }
  if (variables.size === 0 && listed.length === 0) return items;
  const names = new Set(listed.map(({ value }) => value.name));
  const at = startOf([...main][0] ?? "");
  const all = [
    ...listed.map((item) => ({ ...item, value: { ...item.value, isListed: true } })),
    ...[...variables.keys()].filter((name) => !names.has(name)).map((name) => usedOnly(name, at)),
  ];
  const whole = all.map((item) => {
    const text = variables.get(item.value.name);
    return { ...item, value: { ...item.value, value: text === undefined ? null : secrets.ofVariable(text) } };
  });
  return new Map([...items, [ofVariables.kind, whole]]);
}

const usedOnly = (name: string, at: Place): PlacedItem<CustomVariable> => ({
  value: { name, isListed: false },
  at,
  owner: null,
  file: "",
  place: () => at,
});
