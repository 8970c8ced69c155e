// Validation of labels, and who may change them.
import type { CriteriaInput } from "../../../api/hosts/labels.ts";
import { sqlProblem } from "../../../sql/syntax.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, forbidden, invalid, notFound } from "../../platform/core/errors.ts";
import { linuxPlatforms } from "../../platform/core/platforms.ts";
import { may, maySomewhere } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
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

export function checkPlatform(input: string | null | undefined, field = "platform"): string {
  const platform = (input ?? "").trim();
  if (!platforms.has(platform))
    throw invalid(field, `${JSON.stringify(platform)} is not a platform: darwin, windows, linux, ubuntu, centos ...`);
  return platform;
}

const isBlank = (text: string | null | undefined): boolean => (text ?? "").trim() === "";

/** What a label selects hosts by; empty: nothing. 422 for what is no SQL. */
export function checkQuery(input: string | null | undefined, field = "query"): string {
  if (isBlank(input)) return "";
  const problem = sqlProblem(input!);
  if (problem !== null) throw invalid(field, problem);
  return input!;
}

/** The possible sources of a label's members. */
interface Sources {
  readonly query?: string | null | undefined;
  readonly criteria?: CriteriaInput | null | undefined;
  readonly hosts?: readonly unknown[] | null | undefined;
  readonly host_ids?: readonly unknown[] | null | undefined;
}

/** 422 for more than one source. An empty list beside a query counts as absent. */
export function checkOneSource({ query, criteria, hosts, host_ids: hostIds }: Sources): void {
  if (hosts && hostIds) throw invalid("hosts", "only one of hosts and host_ids can be given");
  const sources = [
    isBlank(query) ? null : "query",
    criteria ? "criteria" : null,
    hosts && hosts.length > 0 ? "hosts" : null,
    hostIds && hostIds.length > 0 ? "host_ids" : null,
  ].filter((name) => name !== null);
  if (sources.length > 1)
    throw invalid(
      sources[1]!,
      `only one of query, criteria, hosts and host_ids can be given, not ${sources.join(" and ")}`,
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
  const authorTeams = await store.userTeams.pick(["team_id"], { where: eq("user_id", label.author_id) });
  const isOfTeams =
    authorTeams.length > 0 && authorTeams.every(({ team_id }) => may(user, "labels:write_any", team_id));
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
