// The order in which hosts install the software of their setup: that of the items in files.

import type { Json } from "../../../text/differences.ts";
import { thing } from "../../desired/values.ts";
import { fieldsOf } from "../../export/fields.ts";
import type { ExportScope } from "../../export/scope.ts";
import type { CollectedItems } from "../../files/collect.ts";
import { isOffered } from "../../plan/activities.ts";
import type { Owner } from "../../plan/diff.ts";
import type { Kind } from "../kind.ts";

const KIND = "setup_order";
const NAME = "software";

interface Offer {
  readonly name: string;
  readonly setup_experience?: boolean;
  readonly slug?: string;
}

const namesIn = (value: Json | undefined): readonly string[] => {
  const { software } = fieldsOf(value);
  return Array.isArray(software) ? (software as string[]) : [];
};

/** What the lists of an owner's file have chosen for the setup, list by list. */
function chosenIn(items: CollectedItems, of: Owner): string[][] {
  const chosen = (kind: string): Offer[] =>
    (items.get(kind) ?? [])
      .filter(({ owner }) => owner === of)
      .map(({ value }) => value as Offer)
      .filter(({ setup_experience }) => setup_experience === true);
  const names = (offers: readonly Offer[]) => offers.map(({ name }) => name);
  const packages = chosen("package");
  return [
    names(packages.filter(({ slug }) => slug === undefined)),
    names(packages.filter(({ slug }) => slug !== undefined)),
    names(chosen("store_app")),
  ];
}

/**
 * Files have an order within each list only. Between the lists the server's order is kept, and what is new comes last: list by
 * list.
 */
function merged(before: readonly string[], lists: readonly (readonly string[])[]): string[] {
  const listOf = new Map(lists.flatMap((list, index) => list.map((name) => [name, index] as const)));
  const left = lists.map((list) => [...list]);
  const kept = before.flatMap((name) => {
    const index = listOf.get(name);
    return index === undefined ? [] : left[index]!.splice(0, 1);
  });
  return [...kept, ...left.flat()];
}

export const setupOrder: Kind = {
  noun: "setup order",
  exception: "software",
  desired: ({ current, scopes }, items) =>
    scopes.flatMap(({ kind, owner }) => {
      const lists = kind === "global" ? [] : chosenIn(items, owner);
      // Only several have an order.
      if (lists.flat().length < 2) return [];
      return [thing(KIND, owner, { software: merged(namesIn(current.value(KIND, owner, NAME)), lists) }, NAME)];
    }),
  isComplete: ({ owner }, { owners }) => owners.has(owner),
  typesOf: () => ["edited_setup_experience_software"],
  isAbout: (details, _, { owner }) => isOffered(details, owner),
};

/** The objects of a kind: what hosts install during their setup first, in its order. */
export function inSetupOrder({ objects, owner }: ExportScope, kind: string) {
  const rankOf = new Map(namesIn(objects.singleValue(owner, KIND)).map((name, rank) => [name, rank]));
  const rank = ({ name }: { readonly name: string }): number => rankOf.get(name) ?? rankOf.size;
  return objects.all(owner, kind).toSorted((a, b) => rank(a) - rank(b));
}
