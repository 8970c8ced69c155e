// Counts hosts by the values of fields: by each field among the hosts that match all filters but that field's own.
import {
  type HostFacetName,
  type HostFacetsQuery,
  type HostFacetsReply,
  hostFacetNames,
  hostFacets,
  MAX_FACET_VALUES,
} from "../../../api/inventory/host-facets.ts";
import type { HostFilter } from "../../../api/inventory/host-filters.ts";
import { nearest } from "../../../text/nearest.ts";
import { inTurns } from "../../platform/core/concurrency/in-turns.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { visible } from "../../platform/core/security/access.ts";
import { oneOf, type Predicate } from "../../platform/store/query.ts";
import { facetCounts } from "./facet-counts.ts";
import { hostsOfQuery } from "./filters.ts";
import { withoutFields } from "./selector/without-fields.ts";

export async function countFacets(ctx: Context, { by, ...filter }: HostFacetsQuery): Promise<HostFacetsReply> {
  const names = facetsIn(by);
  const all = await hostsOfQuery(ctx, filter, "hosts:list");
  const key = JSON.stringify(["facets", visible(ctx, "hosts:list"), filter, names]);
  return ctx.running.of(sharing).run(key, async () => {
    const hosts = await evaluated(ctx, filter, all);
    const count = await ctx.store.hosts.count(hosts);
    const facets = await inTurns(names.map((name) => () => facetOf(ctx, name, filter, hosts)));
    return { count, facets };
  });
}

/** More hosts are not named by their ids: a list of so many costs more than most selectors. */
const MAX_NAMED_HOSTS = 50_000;

/** With a selector, which may be costly: the ids of the hosts that match now, for several counts of them. */
async function evaluated({ store }: Context, { where }: HostFilter, hosts: Predicate): Promise<Predicate> {
  if (where === undefined) return hosts;
  const rows = await store.hosts.pick(["id"], { where: hosts, limit: MAX_NAMED_HOSTS + 1 });
  if (rows.length > MAX_NAMED_HOSTS) return hosts;
  return oneOf(
    "id",
    rows.map(({ id }) => id),
  );
}

function facetsIn(by: string): HostFacetName[] {
  const names = new Set(
    by
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean),
  );
  const unknown = [...names].filter((name) => !(hostFacetNames as readonly string[]).includes(name));
  if (names.size === 0 || unknown.length > 0) {
    const near = unknown.length === 0 ? undefined : nearest(unknown[0]!, hostFacetNames);
    const help = near === undefined ? `one of ${hostFacetNames.join(", ")}` : `did you mean ${near}?`;
    throw invalid(
      "by",
      unknown.length === 0 ? `needs ${help}` : `hosts are not counted by ${unknown.join(", ")}; ${help}`,
    );
  }
  return [...names] as HostFacetName[];
}

async function facetOf(
  ctx: Context,
  name: HostFacetName,
  filter: HostFilter,
  all: Predicate,
): Promise<HostFacetsReply["facets"][number]> {
  const others = withoutOwn(name, filter);
  const where = others === filter ? all : await evaluated(ctx, others, await hostsOfQuery(ctx, others, "hosts:list"));
  const values = await facetCounts[name](ctx, where);
  const rest = values.slice(MAX_FACET_VALUES);
  return {
    by: name,
    values: values.slice(0, MAX_FACET_VALUES),
    other: rest.reduce((sum, { count }) => sum + count, 0),
  };
}

/** The filter without what chooses among the values of the facet; the filter itself if it has no such part. */
function withoutOwn(name: HostFacetName, filter: HostFilter): HostFilter {
  const { filters, selectorFields } = hostFacets[name];
  const where = filter.where === undefined ? undefined : withoutFields(filter.where, selectorFields);
  const isFiltered = filters.some((param) => filter[param] !== undefined);
  if (!isFiltered && where === filter.where) return filter;
  return { ...filter, ...Object.fromEntries(filters.map((param) => [param, undefined])), where };
}
