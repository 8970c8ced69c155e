// The members of labels now, and after the plan as far as they are known.

import type { LabelCriteria } from "../../../api/hosts/labels.ts";
import { isRecord, listIn } from "../../../text/record.ts";
import { hostsByName } from "../../hosts/labels/members.ts";
import { labelMembers } from "../../hosts/labels/tables.ts";
import { hostsOfCriteria } from "../../inventory/labels/criteria.ts";
import type { Context } from "../../platform/core/context.ts";
import { eq, exists, nothing, oneOf, type Predicate } from "../../platform/store/query.ts";
import { isSame } from "../configuration/values.ts";

/** Hosts of a manual label that are compared. */
const HOSTS_MAX = 5_000;

/** A change of a label: its values before and after. Undefined: it does not exist. */
export interface LabelChange {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Why members are not known: hosts have to answer the query first, or they are too many to be compared. */
type Unknown = "answers" | "many";

export class LabelSets {
  readonly #ctx: Context;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #later = new Map<string, Predicate | Unknown>();

  private constructor(ctx: Context, ids: ReadonlyMap<string, number>) {
    this.#ctx = ctx;
    this.#ids = ids;
  }

  static async of(ctx: Context, names: readonly string[], changes: readonly LabelChange[]): Promise<LabelSets> {
    const all = [...new Set([...names, ...changes.map(({ name }) => name)])];
    const rows = await ctx.store.labels.pick(["id", "name"], { where: oneOf("name", all) });
    const sets = new LabelSets(ctx, new Map(rows.map(({ id, name }) => [name, id])));
    for (const change of changes) sets.#later.set(change.name, await sets.#membersAfter(change));
    return sets;
  }

  now(name: string): Predicate {
    const id = this.#ids.get(name);
    return id === undefined ? nothing : exists(labelMembers, "host_id", eq("label_id", id));
  }

  /** Members that are not known count as those of now. */
  later(name: string): Predicate {
    const members = this.#later.get(name);
    return members === undefined || typeof members === "string" ? this.now(name) : members;
  }

  unknown(name: string): Unknown | null {
    const members = this.#later.get(name);
    return typeof members === "string" ? members : null;
  }

  isChanged(name: string): boolean {
    return this.#later.has(name);
  }

  async #membersAfter({ name, before, after }: LabelChange): Promise<Predicate | Unknown> {
    if (!isRecord(after)) return nothing;
    const { label_membership_type: type, criteria, query, platform } = after;
    if (type === "manual") {
      const names = listIn(after.hosts) as (string | number)[];
      if (names.length > HOSTS_MAX) return "many";
      const hosts = await hostsByName(this.#ctx, names);
      return oneOf("id", [...new Set([...hosts.values()].flatMap(({ ids }) => ids))]);
    }
    if (type === "host_vitals") return hostsOfCriteria(this.#ctx, criteria as LabelCriteria);
    const isKept = isRecord(before) && isSame([before.query, before.platform], [query, platform]);
    return isKept ? this.now(name) : "answers";
  }
}
