// What the client knows about one kind of configuration.
import type { z } from "zod";
import type { Current } from "../desired/current.ts";
import type { Placed } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import type { ListName } from "../files/scope.ts";
import type { Details } from "../plan/activities.ts";
import type { Change, Json, Thing } from "../plan/diff.ts";

/** Kinds whose objects are the items of a list in main files. Written with methods, so that one list has them all. */
export interface Items<T extends { readonly name: string } = { readonly name: string }> {
  readonly list: ListName;
  readonly schema: z.ZodType<T>;
  /** The fields of a value that contain names of labels. */
  readonly labelFields: readonly string[];
  /** The meaning of an item that leaves these fields out: exports do not write them. */
  readonly defaults: { readonly [key: string]: Json };
  /** The objects that the items ask for. */
  desired(items: readonly Placed<T>[], current: Current, problems: Problems): Thing[];
}

export interface Kind {
  /** What plans call it. */
  readonly noun: string;
  /** For kinds that stand in lists. */
  readonly items?: Items;
  /** The value of a new team, for kinds whose first value does not depend on the organization. */
  readonly ofNewTeam?: Json;
  /** The list in the value whose order has no meaning. */
  readonly unordered?: string;
  /** The types of activities that can explain a change. */
  typesOf(change: Change): readonly string[];
  /** Whether an activity of one of these types is about the changed object and fields. */
  isAbout(details: Details, type: string, change: Change): boolean;
}
