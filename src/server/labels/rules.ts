// Validation of labels, and who may change them.
import type { GivenCriteria } from "../../api/labels.ts";
import { sqlProblem } from "../agent-protocol/sql-syntax.ts";
import type { Context } from "../core/context.ts";
import { alreadyExists, forbidden, invalid, notFound } from "../core/errors.ts";
import { linuxPlatforms } from "../core/platforms.ts";
import { may, maySomewhere } from "../core/security/access.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq, oneOf } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";
import type { LabelRow } from "./wire.ts";

const platforms: ReadonlySet<string> = new Set([
  "",
  "darwin",
  "windows",
  "chrome",
  ...linuxPlatforms,
  "fedora",
  "rocky",
  "almalinux",
  "ol",
  "suse",
  "raspbian",
  "alpine",
  "bottlerocket",
]);

export function checkPlatform(given: string | null | undefined, field = "platform"): string {
  const platform = (given ?? "").trim();
  if (!platforms.has(platform))
    throw invalid(field, `${JSON.stringify(platform)} is not a platform: darwin, windows, linux, ubuntu, centos ...`);
  return platform;
}

export const isBlank = (text: string | null | undefined): boolean => (text ?? "").trim() === "";

/** What a label selects hosts by; empty: nothing. 422 for what is no SQL. */
export function checkQuery(given: string | null | undefined, field = "query"): string {
  if (isBlank(given)) return "";
  const problem = sqlProblem(given!);
  if (problem !== null) throw invalid(field, problem);
  return given!;
}

/** The possible sources of a label's members. */
export interface Sources {
  readonly query?: string | null | undefined;
  readonly criteria?: GivenCriteria | null | undefined;
  readonly hosts?: readonly unknown[] | null | undefined;
  readonly host_ids?: readonly unknown[] | null | undefined;
}

/** 422 for more than one source. An empty list beside a query counts as absent. */
export function checkOneSource({ query, criteria, hosts, host_ids: hostIds }: Sources): void {
  if (hosts && hostIds) throw invalid("hosts", "only one of hosts and host_ids can be given");
  const given = [
    isBlank(query) ? null : "query",
    criteria ? "criteria" : null,
    hosts && hosts.length > 0 ? "hosts" : null,
    hostIds && hostIds.length > 0 ? "host_ids" : null,
  ].filter((name) => name !== null);
  if (given.length > 1)
    throw invalid(
      given[1]!,
      `only one of query, criteria, hosts and host_ids can be given, not ${given.join(" and ")}`,
    );
}

/**
 * Allowed for users who may write any label, and for the label's author. A label narrows what runs on hosts of all
 * teams, so a role on a team is enough only for labels of users who have no role outside of the caller's teams. Other
 * labels may be relied on by others.
 */
export async function authorizeLabel(ctx: Context, label: Pick<LabelRow, "author_id">): Promise<void> {
  const { user, store } = ctx;
  if (may(user, "labels:write_any", null)) return;
  if (label.author_id === user.id && maySomewhere(user, "labels:write")) return;
  if (label.author_id === null || !maySomewhere(user, "labels:write_any")) throw forbidden();
  const author = await store.users.get(label.author_id);
  const held = await store.userTeams.pick(["team_id"], { where: eq("user_id", label.author_id) });
  const isOfTeams = held.length > 0 && held.every(({ team_id }) => may(user, "labels:write_any", team_id));
  if (author?.global_role !== null || !isOfTeams) throw forbidden();
}

export async function getLabelRow({ store }: Pick<Context, "store">, id: number): Promise<LabelRow> {
  const row = await store.labels.get(id);
  if (!row) throw notFound("label", id);
  return row;
}

/** Names are unique: also 409 if a concurrent request created the name first. */
export async function nameTaken<R>(name: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UniqueViolation && error.table === "labels") throw alreadyExists(taken(name));
    throw error;
  }
}
const taken = (name: string) => `a label with the name ${name} exists`;

export async function checkNameFree(store: ServerTx, name: string, but = 0): Promise<void> {
  const holder = await store.labels.first({ where: eq("name", name) });
  if (holder && holder.id !== but) throw alreadyExists(taken(name));
}

/** 422 that lists what the label narrows: without the label it would apply to every host. */
export async function checkUnused(store: ServerTx, label: LabelRow): Promise<void> {
  const reason = (await checkAllUnused(store, [label])).get(label.id);
  if (reason !== undefined) throw invalid("base", reason);
}

/** The reasons why labels cannot be deleted, by label id: the objects that they narrow. */
export async function checkAllUnused(store: ServerTx, labels: readonly LabelRow[]): Promise<Map<number, string>> {
  const names = new Map(labels.map(({ id, name }) => [id, name]));
  const where = oneOf("label_id", [...names.keys()]);
  const byPolicies = await store.policyLabels.pick(["label_id", "policy_id"], { where, limit: MOST_USES });
  const byQueries = await store.queryLabels.pick(["label_id", "query_id"], { where, limit: MOST_USES });
  const ids = { policies: byPolicies.map((row) => row.policy_id), queries: byQueries.map((row) => row.query_id) };
  const policies = byId(await store.policies.pick(["id", "name"], { where: oneOf("id", ids.policies) }));
  const queries = byId(await store.queries.pick(["id", "name"], { where: oneOf("id", ids.queries) }));
  const byPackages = await store.installerLabels.pick(["label_id", "installer_id"], { where, limit: MOST_USES });
  const byApps = await store.storeAppLabels.pick(["label_id", "store_app_id"], { where, limit: MOST_USES });
  const packages = await store.softwareInstallers.pick(["id", "title_id"], {
    where: oneOf(
      "id",
      byPackages.map((row) => row.installer_id),
    ),
  });
  const apps = await store.storeApps.pick(["id", "title_id"], {
    where: oneOf(
      "id",
      byApps.map((row) => row.store_app_id),
    ),
  });
  const titleIds = [...packages, ...apps].map((row) => row.title_id);
  const titles = byId(await store.softwareTitles.pick(["id", "name"], { where: oneOf("id", titleIds) }));
  const titlesOf = (rows: typeof packages) => new Map(rows.map(({ id, title_id }) => [id, titles.get(title_id)]));
  const [packageTitles, appTitles] = [titlesOf(packages), titlesOf(apps)];
  const users = new Map<number, string[]>();
  const use = (label: number, user: string) => users.set(label, [...(users.get(label) ?? []), user]);
  for (const { label_id, policy_id } of byPolicies) use(label_id, `policy ${JSON.stringify(policies.get(policy_id))}`);
  for (const { label_id, query_id } of byQueries) use(label_id, `query ${JSON.stringify(queries.get(query_id))}`);
  for (const { label_id, installer_id } of byPackages)
    if (label_id !== null) use(label_id, `package ${JSON.stringify(packageTitles.get(installer_id))}`);
  for (const { label_id, store_app_id } of byApps) use(label_id, `app ${JSON.stringify(appTitles.get(store_app_id))}`);
  return new Map(
    [...users].map(([id, using]) => [
      id,
      `the label ${JSON.stringify(names.get(id))} is in use (foreign key) by ${using.slice(0, SHOWN).join(", ")}`,
    ]),
  );
}

/** Uses that are read in total; `SHOWN` of them are listed per label. */
const MOST_USES = 1000;
const SHOWN = 6;

const byId = (rows: readonly { id: number; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]));
