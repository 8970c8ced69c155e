// What plans consist of.

import type { FieldChange, Json } from "../../text/differences.ts";

/** The owner: null for global objects, a team's name, or the hosts without a team. */
export type Owner = string | null;

export interface Thing {
  readonly kind: string;
  readonly owner: Owner;
  /** The name of the section, label, policy and so on. A kind with one object per scope uses the kind's name. */
  readonly name: string;
  /** What people call an object whose name is a digest. Only the server knows it. */
  readonly title?: string | undefined;
  readonly value: Json;
}

export interface Change {
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly owner: Owner;
  readonly name: string;
  /** Title for people, as `Thing` has it; absent for what is created. */
  readonly title?: string | undefined;
  /** For updates: the fields that differ, in the order of the files. */
  readonly fields: readonly FieldChange[];
  /** The desired value; null for deletions. */
  readonly value: Json;
  /** For a team that is deleted: the number of its hosts, and some of their names. */
  readonly hosts?: HostsOfTeam | undefined;
  /** What people should know before they apply it. */
  readonly note?: string | undefined;
}

export interface HostsOfTeam {
  readonly count: number;
  readonly names: readonly string[];
}

export const keyOf = ({ kind, owner, name }: Pick<Thing, "kind" | "owner" | "name">): string =>
  JSON.stringify([kind, owner, name]);
