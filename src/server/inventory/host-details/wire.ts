// Renders host rows for the API. Data from other tables is read once for all hosts of a reply.

import { type Host, Host as HostSchema } from "../../../api/hosts/host.ts";
import { hostFieldNames, hostFields, isStored, type StoredName } from "../../../api/hosts/host-fields.ts";
import type { SoftwareForm } from "../../../api/inventory/host-filters.ts";
import { existingPolicies, failingCounts, issuesSide, policiesOfHosts } from "../../checks/policies/results.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { geolocationOf } from "../../hosts/hosts/geo.ts";
import { type hostDetails, hostSeen, hosts } from "../../hosts/hosts/tables.ts";
import { peopleOfHosts } from "../../hosts/scim/people.ts";
import { isoPlus, NEVER, seconds } from "../../platform/core/clock.ts";
import { objectMaker } from "../../platform/core/compile.ts";
import { ahead } from "../../platform/core/concurrency/parts.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { ReadOnce } from "../../platform/core/read-once.ts";
import type { Select } from "../../platform/store/query.ts";
import { type Batch, type SidesOf, side } from "../../platform/store/sides.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { teamNames } from "../../settings/teams/reads.ts";
import { softwareOfHosts } from "../../software/software/service.ts";
import { maintenanceWindowOf } from "./maintenance-window.ts";
import { type HostMdmView, mdmOfHosts, mdmSides, mdmSolutionsOnce } from "./mdm-view.ts";
import { packStatsOfHost, packsOfHost } from "./packs.ts";
import { conflictsOfHosts, deviceMapping, emailsOfHosts, endUsers, labelsOfHosts } from "./parts.ts";

type SeenTimes = Pick<RowOf<typeof hostSeen>, "seen_time" | "online_until">;
type Details = RowOf<typeof hostDetails>;

/** The parts of a reply beyond the host row. */
export interface HostParts {
  /** The fields that are used, if not all: the others may be wrong or missing. */
  readonly fields?: ReadonlySet<keyof Host>;
  readonly software?: SoftwareForm | null;
  readonly users?: boolean;
  readonly labels?: boolean;
  readonly policies?: boolean;
  readonly deviceMapping?: boolean;
  /** Issues are not counted: all counts are 0. */
  readonly noIssues?: boolean;
  /** Keys of `additional` to return. */
  readonly additional?: readonly string[];
  /** The single-host view: all parts except those that the other options exclude. */
  readonly whole?: boolean;
}

/** The columns of host rows that fields with another name are made from. */
const madeFrom: Partial<Record<keyof Host, readonly (keyof HostRow)[]>> = {
  display_text: ["hostname"],
  status: ["created_at"],
  seen_time: ["created_at"],
  team_name: ["team_id"],
  policies: ["team_id", "platform", "platform_like"],
};

/** The columns that host rows need for these fields, by default for all. */
const columnsOf = (fields: Iterable<keyof Host> = allFields): (keyof HostRow)[] =>
  [
    "id",
    ...[...fields].flatMap((field) => madeFrom[field] ?? field).filter((name) => Object.hasOwn(hosts.columns, name)),
  ] as (keyof HostRow)[];

const allFields = Object.keys(HostSchema.shape) as (keyof Host)[];

/** Hosts of an unpaged list are rendered in parts, so that other requests are served in between. */
const BATCH_SIZE = 500;
/**
 * Hosts of a long list that are made and sent together. Few are in memory at a time, which is what garbage collection
 * takes time for.
 */
const RENDERED_BATCH_SIZE = 50;

export async function hostsOnWire(ctx: Context, rows: readonly HostRow[], parts: HostParts = {}): Promise<Host[]> {
  const sharedReads = readShared(ctx);
  const wireHosts: Host[] = [];
  for (let at = 0; at < rows.length; at += BATCH_SIZE) {
    const batch = rows.slice(at, at + BATCH_SIZE);
    const ids = batch.map(({ id }) => id);
    const [sides, further] = await Promise.all([
      ctx.store.hosts.sides(ids, sidesOf(parts)),
      furtherParts(ctx, ids, parts, () => batch),
    ]);
    wireHosts.push(...(await hostsOf(ctx, batch, sides, parts, sharedReads, further)));
  }
  return wireHosts;
}

/** Hosts of the store in batches, as `batches` reads them. */
export type HostBatch = Batch<HostRow, HostSides>;

/** Reads the hosts for `hostsInTurn`. */
export const hostBatches = (
  { store }: Pick<Context, "store">,
  parts: HostParts,
  select: Select,
  size: number,
): AsyncIterable<HostBatch> => store.hosts.batches(columnsOf(parts.fields), sidesOf(parts), select, size);

/** Renders the hosts of long lists, a few at a time. */
export async function* hostsInTurn(
  ctx: Context,
  batches: AsyncIterable<HostBatch>,
  parts: HostParts,
): AsyncGenerator<Host[]> {
  const sharedReads = readShared(ctx);
  async function* withParts() {
    for await (const batch of batches) {
      const { ids } = batch;
      yield { batch, further: await furtherParts(ctx, ids, parts, () => ids.map((_, place) => batch.row(place))) };
    }
  }
  for await (const { batch, further } of ahead(withParts()))
    for (let at = 0; at < batch.ids.length; at += RENDERED_BATCH_SIZE) {
      const rows: HostRow[] = [];
      const sides: HostSides[] = [];
      for (let place = at; place < Math.min(at + RENDERED_BATCH_SIZE, batch.ids.length); place++) {
        rows.push(batch.row(place));
        sides.push(batch.sides(place));
      }
      yield await hostsOf(ctx, rows, sides, parts, sharedReads, further);
    }
}

const seenSide = side(hostSeen, "seen_time", "online_until");

/** What is read for all hosts of a reply only once. */
const readShared = ({ store }: Context) => ({
  teamNames: new ReadOnce((ids) => teamNames(store, ids)),
  solutions: mdmSolutionsOnce(store),
  policies: existingPolicies(store),
});
type SharedReads = ReturnType<typeof readShared>;

function sidesOf({ fields, noIssues }: HostParts) {
  const needs = (...names: (keyof Host)[]) => fields === undefined || names.some((name) => fields.has(name));
  return {
    seen: needs("status", "seen_time") ? seenSide : undefined,
    results: needs("issues") && !noIssues ? issuesSide : undefined,
    ...(needs("mdm", "last_mdm_checked_in_at", "last_mdm_enrolled_at") ? mdmSides : {}),
  };
}
type HostSides = SidesOf<ReturnType<typeof sidesOf>>;

async function hostsOf(
  ctx: Context,
  rows: readonly HostRow[],
  sides: readonly HostSides[],
  parts: HostParts,
  shared: SharedReads,
  further: Further | null,
): Promise<Host[]> {
  const namesTeams = parts.fields?.has("team_name") ?? true;
  const [names, mdmOf, failing] = await Promise.all([
    namesTeams ? shared.teamNames.of(rows.map(({ team_id }) => team_id)) : new Map<number, string>(),
    mdmOfHosts(ctx.store, rows, sides, shared.solutions, { whole: parts.whole ?? false }),
    failingCounts(
      shared.policies,
      sides.map(({ results }) => results),
    ),
  ]);
  const now = ctx.clock.iso();
  const premium = isPremium(ctx);
  const wireHosts = rows.map((row, at) => {
    const { seen, results } = sides[at]!;
    const team = row.team_id === null ? null : (names.get(row.team_id) ?? null);
    const issues = issuesOf(failing[at]!, results?.critical_count ?? 0, premium);
    const host = hostOf(row, seen, now, mdmOf(at), team, issues);
    further?.add(host);
    return host;
  });
  if (parts.whole && further) await addPacks(ctx, rows, wireHosts, further.details);
  return wireHosts;
}

/** The parts that only some replies have. */
interface Further {
  readonly details: ReadonlyMap<number, Details>;
  add(host: Host): void;
}

/** Reads the further parts of these hosts; null if the reply has none. */
async function furtherParts(
  ctx: Context,
  ids: readonly number[],
  parts: HostParts,
  rows: () => readonly HostRow[],
): Promise<Further | null> {
  const { whole = false, users = whole, additional = [] } = parts;
  const { labels: withLabels = whole, policies: withPolicies = whole, deviceMapping: withMapping = false } = parts;
  const withDetails = users || additional.length > 0;
  const withEmails = withMapping || whole;
  if (!withDetails && !withLabels && !withPolicies && !parts.software && !withEmails) return null;
  const [detailRows, labels, policies, software, emails, people] = await Promise.all([
    withDetails || whole ? ctx.store.hostDetails.getMany(ids) : [],
    withLabels ? labelsOfHosts(ctx, ids) : null,
    withPolicies ? policiesOfHosts(ctx, rows()) : null,
    parts.software ? softwareOfHosts(ctx, ids, parts.software) : null,
    withEmails ? emailsOfHosts(ctx, ids) : null,
    whole ? peopleOfHosts(ctx.store, ids) : null,
  ]);
  const details = byId(detailRows);
  const add = (host: Host) => {
    const detail = details.get(host.id);
    const addresses = emails?.get(host.id) ?? [];
    if (withDetails || whole) Object.assign(host, additionalOf(detail, parts));
    if (users) host.users = detail?.users ?? [];
    if (labels) host.labels = labels.get(host.id) ?? [];
    if (policies) host.policies = policies.get(host.id) ?? [];
    if (software) host.software = software.get(host.id) ?? [];
    if (withMapping) host.device_mapping = deviceMapping(addresses);
    if (whole) {
      host.batteries = detail?.batteries ?? [];
      host.end_users = endUsers(addresses, people?.get(host.id));
    }
  };
  return { details, add };
}

/** Adds the parts that need too many queries for a list. */
async function addPacks(
  ctx: Context,
  rows: readonly HostRow[],
  wireHosts: readonly Host[],
  details: ReadonlyMap<number, Details>,
): Promise<void> {
  const conflicts = await conflictsOfHosts(
    ctx,
    rows.map(({ id }) => id),
  );
  for (const [at, host] of wireHosts.entries()) {
    const row = rows[at]!;
    const conflict = conflicts.get(row.id);
    if (conflict !== undefined) host.agent_conflict = conflict;
    const labelIds = (host.labels ?? []).map(({ id }) => id);
    const [packs, stats, window] = await Promise.all([
      packsOfHost(ctx.store, row, labelIds),
      packStatsOfHost(ctx.store, row.id, details.get(row.id)?.pack_stats ?? []),
      maintenanceWindowOf(ctx, row.id),
    ]);
    if (window !== undefined) host.maintenance_window = window;
    host.packs = packs;
    host.pack_stats = stats;
    const geolocation = geolocationOf(ctx, row.public_ip);
    if (geolocation !== undefined) host.geolocation = geolocation;
  }
}

const issuesOf = (failing: number, critical: number, premium: boolean): Host["issues"] => ({
  failing_policies_count: failing,
  total_issues_count: premium ? failing + critical : failing,
  critical_vulnerabilities_count: premium ? critical : undefined,
});

/** What replies have for columns that are null, by the name of the field. */
const absentValue = (name: StoredName): unknown =>
  ({ null: null, never: NEVER, "left out": undefined })[hostFields[name].absent];

/**
 * Creates the fields of every reply, in one object whose keys never vary: spreads and added keys are many times slower
 * for an object this wide. Undefined fields are not sent.
 */
const newHost = objectMaker<HostRow, Host>([
  ...hostFieldNames.map((name) =>
    isStored(name) ? ([name, true, absentValue(name)] as const) : ([name, false, null] as const),
  ),
  ["mdm", false, null],
  ["issues", false, null],
  ["pack_stats", false, null],
]);

function hostOf(
  row: HostRow,
  seen: SeenTimes | null | undefined,
  now: string,
  { mdm, last_mdm_checked_in_at, last_mdm_enrolled_at }: HostMdmView,
  teamName: string | null,
  issues: Host["issues"],
): Host {
  const host = newHost(row);
  host.id = row.id;
  host.team_id = row.team_id;
  host.team_name = teamName;
  host.display_text = row.hostname;
  host.seen_time = seen?.seen_time ?? row.created_at;
  host.status = onlineUntil(row, seen) > now ? "online" : "offline";
  host.mdm = mdm;
  host.last_mdm_checked_in_at = last_mdm_checked_in_at;
  host.last_mdm_enrolled_at = last_mdm_enrolled_at;
  host.issues = issues;
  host.pack_stats = null;
  return host;
}

/** Null means that the host has not been seen since it was created; undefined, that this was not read. */
const onlineUntil = (row: HostRow, seen: SeenTimes | null | undefined): string =>
  seen === undefined ? "" : (seen?.online_until ?? isoPlus(row.created_at, seconds(60)));

function additionalOf(detail: Details | undefined, parts: HostParts): Pick<Host, "additional"> {
  const all = (detail?.additional ?? null) as Host["additional"] | null;
  if (parts.whole) return all === null ? {} : { additional: all as NonNullable<Host["additional"]> };
  if (!parts.additional || all === null || all === undefined) return {};
  const picked = parts.additional.filter((name) => Object.hasOwn(all, name));
  return { additional: Object.fromEntries(picked.map((name) => [name, all[name]!])) };
}
