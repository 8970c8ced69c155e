import type { Host, HostListQuery } from "../../api/hosts.ts";
import { visible } from "../core/access.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import type { Context } from "../core/context.ts";
import { badRequest, notFound } from "../core/errors.ts";
import { type PageOptions, page } from "../core/paging.ts";
import { sharing } from "../core/sharing.ts";
import { and, eq, everything, or, type Predicate } from "../store/query.ts";
import { teams } from "../teams/tables.ts";
import { type HostRow, hostFor } from "./access.ts";
import { hostsWhere, pastRelated, withSoftware, withTitle } from "./filters.ts";
import { hostSeen } from "./tables.ts";
import { type HostParts, hostsOnWire } from "./wire.ts";

/** Order keys that are columns of other tables. */
const orderBy: PageOptions["orderBy"] = (key, direction) => {
  if (key === "seen_time") return { column: "seen_time", direction, of: hostSeen, on: "id" };
  // Nothing yet makes a host fail: all have as many issues, and ids decide.
  if (key === "issues") return { column: "id", direction };
  if (key === "team_name") return { column: "name", direction, of: teams, on: "team_id" };
  return key.startsWith("h.") ? { column: key.slice(2), direction } : undefined;
};

export async function listHosts(ctx: Context, query: HostListQuery) {
  checkIssues(query);
  const { past, rest } = afterSeen(query);
  const where = and(hostsWhere(ctx, query, "hosts:list"), past);
  const { rows, meta } = await page(ctx.store.hosts, rest, where, { orderBy });
  const hosts = await hostsOnWire(ctx, rows, partsOf(query));
  return { hosts, meta, ...(await softwareAsked(ctx, query)) };
}

/** Issues that are not counted cannot be ordered by; of the flag's two names the newer wins. */
function checkIssues(query: HostListQuery): void {
  if (query.order_key !== "issues") return;
  if (query.disable_issues ?? query.disable_failing_policies)
    throw badRequest("Invalid order_key: issues (it cannot be used with disable_issues)", "order_key");
  if (query.after !== undefined) throw badRequest("after cannot be used with order_key issues", "after");
}

/** `after` in the order of seen_time: it is another table's column. */
function afterSeen(query: HostListQuery): { past: Predicate; rest: HostListQuery } {
  if (query.order_key !== "seen_time" || query.after === undefined) return { past: everything, rest: query };
  const at = Date.parse(query.after);
  if (Number.isNaN(at)) throw badRequest(`Invalid after: ${query.after}`, "after");
  const past = pastRelated(hostSeen, "seen_time", new Date(at).toISOString(), query.order_direction ?? "asc");
  return { past, rest: { ...query, after: undefined } };
}

const partsOf = (query: HostListQuery): HostParts => ({
  software: query.populate_software,
  users: query.populate_users,
  labels: query.populate_labels,
  deviceMapping: query.device_mapping,
  additional: (query.additional_info_filters ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean),
});

/** The software that the list was narrowed to, where the caller can see a host that has it. */
async function softwareAsked(ctx: Context, query: HostListQuery) {
  const { store } = ctx;
  const own = visible(ctx, "hosts:list");
  const seen = async (having: Predicate) =>
    own.op === "all" || (await store.hosts.first({ where: and(own, having) })) !== null;
  const versionId = query.software_version_id ?? query.software_id;
  const version = versionId === undefined ? null : await store.software.get(versionId);
  const title = query.software_title_id === undefined ? null : await store.softwareTitles.get(query.software_title_id);
  return {
    ...(version && (await seen(withSoftware(version.id)))
      ? { software: { id: version.id, name: version.name, version: version.version, source: version.source } }
      : {}),
    ...(title && (await seen(withTitle(title.id)))
      ? { software_title: { id: title.id, name: title.name, source: title.source } }
      : {}),
  };
}

export function countHosts(ctx: Context, filter: HostListQuery): Promise<number> {
  checkIssues(filter);
  const key = JSON.stringify(["count", visible(ctx, "hosts:list"), filter]);
  return sharing(ctx).run(key, async () => ctx.store.hosts.count(hostsWhere(ctx, filter, "hosts:list")));
}

export async function getHost(ctx: Context, id: number, excludeSoftware: boolean): Promise<Host> {
  return wholeHost(ctx, await hostFor(ctx, "hosts:read", id), excludeSoftware);
}

/** The host with the lowest id of those that the caller may see and that go by this name. */
export async function getHostByIdentifier(ctx: Context, name: string, excludeSoftware: boolean): Promise<Host> {
  const named = or(eq("hostname", name), eq("uuid", name), eq("hardware_serial", name), eq("identifier", name));
  const host = await ctx.store.hosts.first({ where: and(visible(ctx, "hosts:identify"), named) });
  if (!host) throw notFound("host", name);
  return wholeHost(ctx, host, excludeSoftware);
}

async function wholeHost(ctx: Context, row: HostRow, excludeSoftware: boolean): Promise<Host> {
  const [host] = await hostsOnWire(ctx, [row], { whole: true, software: !excludeSoftware });
  // Without an inventory the list is there, and empty.
  return excludeSoftware ? host! : { ...host!, software: host!.software ?? [] };
}

export async function refetchHost(ctx: Context, id: number): Promise<void> {
  await hostFor(ctx, "hosts:refetch", id);
  await ctx.store.tx(async (store) => {
    const changed = await store.hosts.update({ where: eq("id", id), set: { refetch_requested: true } });
    if (changed === 0) throw notFound("host", id);
    await store.notify(channels.hosts, hostsPayload([id]));
  });
}
