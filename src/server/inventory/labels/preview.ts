// Which hosts a label would have, before it is created or changed.
import type { LabelPreview, LabelPreviewBody } from "../../../api/hosts/label-effects.ts";
import { soleHosts } from "../../hosts/hosts/named.ts";
import { onPlatform } from "../../hosts/hosts/status.ts";
import { checkCustomVital } from "../../hosts/labels/custom-vitals.ts";
import { changeableMemberIds, hasLabel, hostsByName, memberIds } from "../../hosts/labels/members.ts";
import { admitLabelSql, reachOf } from "../../hosts/labels/reach.ts";
import { checkOneSource, checkPlatform, checkQuery, getLabelRow } from "../../hosts/labels/rules.ts";
import type { LabelRow } from "../../hosts/labels/wire.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, everything, not, nothing, oneOf, type Predicate } from "../../platform/store/query.ts";
import { checkCriteria, hostsOfCriteria } from "./criteria.ts";

/** Hosts and names that replies list. */
const SAMPLE_SIZE = 10;
const noneUnknown = { count: 0, names: [] };

export async function previewLabel(ctx: Context, input: LabelPreviewBody): Promise<LabelPreview> {
  checkOneSource(input);
  const platform = checkPlatform(input.platform);
  const query = checkQuery(input.query);
  const criteria = input.criteria ? checkCriteria(ctx, input.criteria) : null;
  await checkCustomVital(ctx.store, criteria);
  const label = input.label_id == null ? null : await getLabelRow(ctx, input.label_id);
  admitLabelSql(ctx, { name: label?.name ?? "", query });
  if (query !== "" && (label?.query !== query || label.platform !== platform)) return askedOf(ctx, platform);
  if (criteria !== null) return differenceTo(ctx, label, hostsOfCriteria(ctx, criteria));
  const hosts = input.hosts ?? input.host_ids;
  if (hosts && query === "") return named(ctx, label, hosts);
  return differenceTo(ctx, label, label === null ? nothing : hasLabel(label.id));
}

/** Only agents can say which hosts a query selects: before they answer, only their number is known. */
async function askedOf(ctx: Context, platform: string): Promise<LabelPreview> {
  const teams = reachOf(ctx);
  const queriedHosts = and(
    visible(ctx, "labels:list"),
    platform === "" ? everything : onPlatform(platform),
    teams === null ? everything : oneOf("team_id", teams),
  );
  return {
    hosts_count: null,
    gained: null,
    lost: null,
    asked_hosts_count: await ctx.store.hosts.count(queriedHosts),
    unknown_hosts: noneUnknown,
  };
}

async function differenceTo(ctx: Context, label: LabelRow | null, desired: Predicate): Promise<LabelPreview> {
  const seen = visible(ctx, "labels:list");
  const isMember = label === null ? nothing : hasLabel(label.id);
  return {
    hosts_count: await ctx.store.hosts.count(and(desired, seen)),
    gained: await sampleOf(ctx, and(desired, seen, not(isMember))),
    lost: label === null ? noHosts : await sampleOf(ctx, and(isMember, seen, not(desired))),
    asked_hosts_count: null,
    unknown_hosts: noneUnknown,
  };
}

/** Members by name. Hosts whose labels the caller may not change keep theirs. */
async function named(ctx: Context, label: LabelRow | null, names: readonly (string | number)[]): Promise<LabelPreview> {
  const matches = await hostsByName(ctx, names);
  const desired = new Set(soleHosts(matches, "hosts").values());
  const unknown = [...new Set(names)].filter((name) => !matches.has(name));
  const [members, changeable] =
    label === null ? [[], []] : [await memberIds(ctx, label.id), await changeableMemberIds(ctx, label.id)];
  const before = new Set(members);
  const gained = [...desired].filter((id) => !before.has(id));
  const lost = changeable.filter((id) => !desired.has(id));
  return {
    hosts_count: before.size + gained.length - lost.length,
    gained: { count: gained.length, hosts: await namesOfSome(ctx, gained) },
    lost: { count: lost.length, hosts: await namesOfSome(ctx, lost) },
    asked_hosts_count: null,
    unknown_hosts: { count: unknown.length, names: unknown.slice(0, SAMPLE_SIZE).map(String) },
  };
}

type Sample = NonNullable<LabelPreview["gained"]>;
type SampleHost = Sample["hosts"][number];

const noHosts: Sample = { count: 0, hosts: [] };

async function sampleOf(ctx: Context, where: Predicate): Promise<Sample> {
  const count = where.op === "none" ? 0 : await ctx.store.hosts.count(where);
  return count === 0 ? noHosts : { count, hosts: await someHosts(ctx, where) };
}

const someHosts = async ({ store }: Context, where: Predicate): Promise<SampleHost[]> => {
  const order = [{ column: "display_name", direction: "asc" }] as const;
  const hosts = await store.hosts.pick(["id", "display_name"], { where, order, limit: SAMPLE_SIZE });
  return hosts.map(({ id, display_name }) => ({ id, display_name }));
};

/** The first hosts by name, of any number of them. */
async function namesOfSome(ctx: Context, ids: readonly number[]): Promise<SampleHost[]> {
  const first: SampleHost[] = [];
  for await (const batch of parts(ids)) first.push(...(await someHosts(ctx, oneOf("id", batch))));
  return first.sort((a, b) => (a.display_name < b.display_name ? -1 : 1)).slice(0, SAMPLE_SIZE);
}
