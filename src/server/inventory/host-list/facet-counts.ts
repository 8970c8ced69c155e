// How hosts are counted by each facet.
import type { FacetValue, HostFacetName } from "../../../api/inventory/host-facets.ts";
import { hostPolicies } from "../../checks/policies/tables.ts";
import { byStatus } from "../../hosts/host-contact/contact.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import { labelCounts } from "../../hosts/labels/counts.ts";
import { inTurns } from "../../platform/core/concurrency/in-turns.ts";
import type { Context } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import {
  and,
  eq,
  everything,
  exists,
  gt,
  isNull,
  not,
  type Predicate,
  type Scalar,
} from "../../platform/store/query.ts";
import { teamNames } from "../../settings/teams/reads.ts";
import { vulnerableWhere } from "../../software/software/host-conditions.ts";
import { noWindowsServer } from "./selector/mdm.ts";

/** The values with their counts among these hosts, most hosts first. */
type CountFacet = (ctx: Context, where: Predicate) => Promise<FacetValue[]>;

type Group = { readonly value: Scalar | null; readonly count: number };
const shown = ({ value, count }: Group): FacetValue => ({ value, count });
const mostFirst = (values: FacetValue[]): FacetValue[] => values.sort((a, b) => b.count - a.count);

/** Conditions on hosts as conditions on the rows of another table. */
const ofHosts = (where: Predicate, column = "id"): Predicate =>
  where.op === "all" ? everything : exists(hosts, "id", where, column);

const byColumn =
  (
    column:
      | "platform"
      | "os_version"
      | "hardware_model"
      | "agent_version"
      | "qengine_version"
      | "disk_encryption_enabled",
  ): CountFacet =>
  async ({ store }, where) =>
    (await store.hosts.groupCount(column, where)).map(shown);

const countStatuses: CountFacet = async ({ store, clock }, where) => {
  const now = clock.now();
  const counted = [
    where,
    ...(["online", "new", "missing"] as const).map((status) => and(where, byStatus(status, now))),
  ];
  const [all, online, fresh, missing] = await inTurns(counted.map((hostsOf) => () => store.hosts.count(hostsOf)));
  return [
    { value: "online", count: online! },
    // Hosts may change between two counts.
    { value: "offline", count: Math.max(0, all! - online!) },
    { value: "new", count: fresh! },
    { value: "missing", count: missing! },
  ];
};

const countTeams: CountFacet = async ({ store }, where) => {
  const groups = await store.hosts.groupCount("team_id", where);
  const ids = groups.flatMap(({ value }) => (typeof value === "number" ? value : []));
  const names = await teamNames(store, ids);
  return groups.map(({ value, count }) =>
    value === null ? { value: 0, label: "No team", count } : { value, label: names.get(Number(value)) ?? "", count },
  );
};

const countLabels: CountFacet = async (ctx, where) => {
  const { store } = ctx;
  // The counts of all hosts are cached.
  const groups: readonly Group[] =
    where.op === "all"
      ? mostFirst([...(await labelCounts(ctx))].map(([value, count]) => ({ value, count })))
      : await store.labelMembers.groupCount("label_id", ofHosts(where, "host_id"));
  const labels = byId(await store.labels.pick(["id", "name"], { where: eq("label_type", "regular") }));
  return groups.flatMap(({ value, count }) => {
    const label = labels.get(Number(value));
    return label === undefined ? [] : [{ value: label.id, label: label.name, count }];
  });
};

const countProducts: CountFacet = async ({ store }, where) => {
  const groups = await store.hostMdm.groupCount("solution_id", and(eq("is_server", false), ofHosts(where)));
  const ids = groups.flatMap(({ value }) => (typeof value === "number" ? value : []));
  const products = byId(await store.mdmSolutions.getMany(ids));
  return groups.flatMap(({ value, count }) => {
    const product = products.get(Number(value));
    return product === undefined ? [] : [{ value: product.id, label: productName(product), count }];
  });
};
/** A product can have several servers. */
const productName = ({ name, server_url }: { name: string; server_url: string }): string =>
  [name, server_url].filter(Boolean).join(", ");

const countEnrollments: CountFacet = async ({ store }, where) => {
  const groups = await store.hostMdm.groupCount("enrollment_status", and(eq("is_server", false), ofHosts(where)));
  const counts = new Map(groups.map(({ value, count }) => [value, count]));
  const of = (...stored: string[]) => stored.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0);
  return mostFirst(
    [
      { value: "enrolled", count: of("On (automatic)", "On (manual)", "On (personal)") },
      { value: "automatic", count: of("On (automatic)") },
      { value: "manual", count: of("On (manual)") },
      { value: "pending", count: of("Pending") },
      { value: "unenrolled", count: of("Off") },
    ].filter(({ count }) => count > 0),
  );
};

const hasStatus = not(isNull("status"));

const countSettings: CountFacet = async ({ store }, where) =>
  (await store.hostSettings.groupCount("status", and(hasStatus, ofHosts(and(where, noWindowsServer))))).map(shown);

const countEncryption: CountFacet = async ({ store }, where) =>
  (await store.hostDiskEncryption.groupCount("status", and(hasStatus, ofHosts(and(where, noWindowsServer))))).map(
    shown,
  );

const countFailing: CountFacet = async ({ store }, where) => {
  const groups = await store.hostPolicies.groupCount("failing", ofHosts(where));
  // Results of policies that were deleted or changed stay until they are removed.
  const policies = await store.policies.pick(["id", "name", "result_id"]);
  const byResult = new Map(policies.map((policy) => [policy.result_id, policy]));
  return groups.flatMap(({ value, count }) => {
    const policy = byResult.get(Number(value));
    return policy === undefined ? [] : [{ value: policy.id, label: policy.name, count }];
  });
};

const byCondition =
  (condition: Predicate): CountFacet =>
  async ({ store }, where) => {
    const counted = [and(where, condition), where];
    const [yes, all] = await inTurns(counted.map((hostsOf) => () => store.hosts.count(hostsOf)));
    // Hosts may change between the two.
    const no = Math.max(0, all! - yes!);
    return mostFirst([
      { value: true, count: yes! },
      { value: false, count: no },
    ]);
  };

export const facetCounts: Readonly<Record<HostFacetName, CountFacet>> = {
  platform: byColumn("platform"),
  os_version: byColumn("os_version"),
  hardware_model: byColumn("hardware_model"),
  agent_version: byColumn("agent_version"),
  qengine_version: byColumn("qengine_version"),
  disk_encryption_enabled: byColumn("disk_encryption_enabled"),
  status: countStatuses,
  team: countTeams,
  label: countLabels,
  mdm: countProducts,
  mdm_enrollment_status: countEnrollments,
  os_settings: countSettings,
  os_settings_disk_encryption: countEncryption,
  failing_policy: countFailing,
  has_issues: byCondition(exists(hostPolicies, "id", gt("issues_count", 0))),
  has_critical_vulnerabilities: byCondition(exists(hostPolicies, "id", gt("critical_count", 0))),
  vulnerable: byCondition(vulnerableWhere(everything)),
};
