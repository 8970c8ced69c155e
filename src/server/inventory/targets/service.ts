// Finds and counts possible targets of a live query.
import type { z } from "zod";
import type { targetsApi } from "../../../api/inventory/targets.ts";
import { missing } from "../../hosts/host-contact/contact.ts";
import { online } from "../../hosts/hosts/status.ts";
import { hostEmails } from "../../hosts/hosts/tables.ts";
import { ALL_HOSTS } from "../../hosts/labels/builtin-labels.ts";
import { labelCounts } from "../../hosts/labels/counts.ts";
import { labelOnWire } from "../../hosts/labels/wire.ts";
import type { Context } from "../../platform/core/context.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, exists, not, oneOf, or, type Predicate, search } from "../../platform/store/query.ts";
import { viewTeams } from "../../settings/teams/view.ts";
import { hostsOnWire } from "../host-details/wire.ts";
import { labelErrors } from "../labels/service.ts";
import { queryOfTargets, runnableOn, type Selection, selectionOf, targetsFor } from "./select.ts";

type Search = z.output<(typeof targetsApi)["search"]["body"]>;
type Count = z.output<(typeof targetsApi)["count"]["body"]>;
type HostSearch = z.output<(typeof targetsApi)["hosts"]["body"]>;

const HOSTS_SHOWN = 10;
const byName = [{ column: "name", direction: "asc" }] as const;
const byHostname = [{ column: "hostname", direction: "asc" }] as const;
const butNot = (ids: readonly number[]): Predicate => (ids.length === 0 ? everything : not(oneOf("id", ids)));

export async function searchTargets(ctx: Context, input: Search) {
  const query = await queryOfTargets(ctx, input.query_id);
  const selection = selectionOf(input.selected);
  const text = input.query?.trim() ?? "";
  const matches = await ctx.store.hosts.list({
    where: and(runnableOn(ctx, query), search(["hostname", "primary_ip"], text), butNot(selection.hosts)),
    order: byHostname,
    limit: HOSTS_SHOWN,
  });
  const [hosts, labels, teams, counts] = await Promise.all([
    hostsOnWire(ctx, matches),
    labelsFound(ctx, text, selection),
    teamsFound(ctx, text, selection),
    countSelected(ctx, selection, query),
  ]);
  return { targets: { hosts, labels, teams }, ...counts };
}

/** The labels that match the text, and always the label of all hosts. */
async function labelsFound(ctx: Context, text: string, { labels }: Selection) {
  const where = and(
    or(search(["name"], text.normalize("NFC")), and(eq("name", ALL_HOSTS), eq("label_type", "builtin"))),
    butNot(labels),
  );
  const [rows, counts] = await Promise.all([ctx.store.labels.list({ where, order: byName }), labelCounts(ctx)]);
  const errorsOf = await labelErrors(ctx, rows);
  return rows.map((row) => labelOnWire(row, { count: counts.get(row.id) ?? 0, errors: errorsOf(row.id) }));
}

async function teamsFound(ctx: Context, text: string, { teams }: Selection) {
  const where = and(visible(ctx, "targets:search", "id"), search(["name"], text.normalize("NFC")), butNot(teams));
  const rows = await ctx.store.teams.list({ where, order: byName });
  return (await viewTeams(ctx, rows)).map((team) => ({ ...team, display_text: team.name, count: team.host_count }));
}

async function countSelected(ctx: Context, selection: Selection, query: Awaited<ReturnType<typeof queryOfTargets>>) {
  const where = await targetsFor(ctx, selection, query, { strict: false });
  const now = ctx.clock.now();
  const { hosts } = ctx.store;
  const [all, up, gone] = await Promise.all([
    hosts.count(where),
    hosts.count(and(where, online(now))),
    hosts.count(and(where, missing(now))),
  ]);
  return {
    targets_count: all,
    targets_online: up,
    targets_offline: Math.max(0, all - up),
    targets_missing_in_action: gone,
  };
}

export async function countTargets(ctx: Context, input: Count) {
  const query = await queryOfTargets(ctx, input.query_id);
  const { targets_missing_in_action: _, ...counts } = await countSelected(ctx, selectionOf(input.selected), query);
  return counts;
}

export async function searchHosts(ctx: Context, input: HostSearch) {
  const query = await queryOfTargets(ctx, input.query_id);
  const text = input.query?.trim() ?? "";
  const names = search(["display_name", "hostname", "hardware_serial", "uuid", "primary_ip"], text);
  const emails = text === "" ? names : or(names, exists(hostEmails, "host_id", search(["email"], text)));
  const rows = await ctx.store.hosts.list({
    where: and(runnableOn(ctx, query), emails, butNot(input.excluded_host_ids ?? [])),
    order: byHostname,
    limit: HOSTS_SHOWN,
  });
  return { targets: { hosts: await hostsOnWire(ctx, rows) } };
}
