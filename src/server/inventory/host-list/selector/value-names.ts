// Names that a selector's fields can be compared with, among those that the caller may see.
import { selectorValues } from "../../../../api/inventory/selector-fields.ts";
import { readsGlobal } from "../../../checks/policies/access.ts";
import type { hosts } from "../../../hosts/hosts/tables.ts";
import { sharing } from "../../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../../platform/core/context.ts";
import { visible } from "../../../platform/core/security/access.ts";
import {
  and,
  eq,
  everything,
  exists,
  not,
  nothing,
  oneOf,
  or,
  type Predicate,
  search,
} from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { scopesFor } from "../../../software/software/scopes.ts";
import { softwareTitleCounts } from "../../../software/software/tables.ts";

/** Names are searched for a part; among more than these, those that begin with it are not looked for. */
const MAX_SEARCHED = 200;
const byName = [{ column: "name", direction: "asc" }] as const;

/** Columns of hosts that have few different values. */
const hostColumns = [
  "os_version",
  "hardware_model",
  "hardware_vendor",
  "code_name",
  "platform_like",
  "cpu_type",
  "cpu_brand",
  "timezone",
  "agent_version",
  "qengine_version",
] as const satisfies readonly (keyof RowOf<typeof hosts>)[];
type HostColumn = (typeof hostColumns)[number];
const isHostColumn = (field: string): field is HostColumn => (hostColumns as readonly string[]).includes(field);

/** At most so many names; those that begin with the typed text first. */
export async function namesOf(ctx: Context, field: string, typed: string, most: number): Promise<string[]> {
  const names = [...new Set(await namesWith(ctx, field, typed))].filter((name) => name !== "");
  const start = typed.toLowerCase();
  const begin = names.filter((name) => name.toLowerCase().startsWith(start));
  const others = names.filter((name) => !name.toLowerCase().startsWith(start) && name.toLowerCase().includes(start));
  return [...begin, ...others].slice(0, most);
}

async function namesWith(ctx: Context, field: string, typed: string): Promise<readonly string[]> {
  const { store } = ctx;
  const select = (where: Predicate) => ({
    where: and(where, search(["name"], typed)),
    order: byName,
    limit: MAX_SEARCHED,
  });
  const texts = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);
  switch (field) {
    case "platform":
      return selectorValues.platform ?? [];
    case "team":
      return [...texts(await store.teams.pick(["name"], select(visible(ctx, "hosts:list", "id")))), "No team"];
    case "label":
      return texts(await store.labels.pick(["name"], select(everything)));
    case "policy.passing":
    case "policy.failing":
      return texts(await store.policies.pick(["name"], select(visiblePolicies(ctx))));
    case "software.name":
      return texts(await store.softwareTitles.pick(["name"], select(await visibleTitles(ctx))));
    default:
      return isHostColumn(field) ? hostValues(ctx, field) : [];
  }
}

const visiblePolicies = (ctx: Context): Predicate =>
  or(
    readsGlobal(ctx) ? eq("scope", "global") : nothing,
    and(not(eq("scope", "global")), visible(ctx, "policies:list")),
  );

async function visibleTitles(ctx: Context): Promise<Predicate> {
  const scopes = await scopesFor(ctx, undefined);
  return scopes === null ? nothing : exists(softwareTitleCounts, "title_id", oneOf("scope", [...scopes]));
}

/** The values of the column, most hosts first. */
async function hostValues(ctx: Context, column: HostColumn): Promise<string[]> {
  const where = visible(ctx, "hosts:list");
  const groups = await ctx.running
    .of(sharing)
    .run(JSON.stringify(["values", column, where]), () => ctx.store.hosts.groupCount(column, where));
  return groups.flatMap(({ value }) => (typeof value === "string" ? value : []));
}
