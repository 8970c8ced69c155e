// The transaction that writes ingested results. Only changed values are written.
import { channels, hostsPayload } from "../../core/channels.ts";
import { isoAt } from "../../core/clock.ts";
import type { ServerTx } from "../../core/tables.ts";
import { notifyMembersChanged } from "../../labels/counts.ts";
import { type HostMdmRow, reportedMdmColumns } from "../../mdm-status/ingest.ts";
import type { MunkiPlan } from "../../munki/ingest.ts";
import type { HostSoftwareRow } from "../../software/ingest.ts";
import { and, eq, oneOf } from "../../store/query.ts";
import type { HostRow } from "../hosts/state.ts";
import { onlineUntil } from "../inventory/status.ts";
import type { HostDetailsRow } from "./details.ts";

/** `asked`: the label revision that the host answered; null if the results do not carry it. */
interface MemberChange {
  readonly label_id: number;
  readonly host_id: number;
  readonly asked: number | null;
}

export interface Membership {
  readonly join: readonly MemberChange[];
  /** `id` is the id of the membership row to delete. */
  readonly leave: readonly (MemberChange & { readonly id: number })[];
}

export interface Answers {
  readonly hosts: readonly { readonly row: HostRow; readonly set: Partial<HostRow> }[];
  readonly emails: readonly { readonly hostId: number; readonly emails: readonly string[] }[];
  readonly softwareRows: readonly HostSoftwareRow[];
  readonly detailRows: readonly HostDetailsRow[];
  readonly mdmRows: readonly HostMdmRow[];
  readonly munki: MunkiPlan;
  readonly membership: Membership;
}

const BROWSER = "browser_profiles";

export async function writeAnswers(tx: ServerTx, now: number, answers: Answers): Promise<void> {
  await writeHosts(tx, now, answers.hosts);
  if (answers.detailRows.length > 0) await tx.hostDetails.upsert(answers.detailRows, { on: ["id"], returning: [] });
  if (answers.softwareRows.length > 0)
    await tx.hostSoftware.upsert(answers.softwareRows, { on: ["id"], returning: [] });
  if (answers.mdmRows.length > 0)
    await tx.hostMdm.upsert(answers.mdmRows, { on: ["id"], set: reportedMdmColumns, returning: [] });
  if (answers.munki.rows.length > 0) await tx.hostMunki.upsert(answers.munki.rows, { on: ["id"], returning: [] });
  if (answers.munki.gone.length > 0) await tx.hostMunki.delete(oneOf("id", answers.munki.gone));
  const { join, leave } = await stillAsked(tx, answers.membership);
  if (join.length > 0)
    await tx.labelMembers.upsert(
      join.map(({ label_id, host_id }) => ({ label_id, host_id })),
      { on: ["label_id", "host_id"], set: [], returning: [] },
    );
  if (leave.length > 0)
    await tx.labelMembers.delete(
      oneOf(
        "id",
        leave.map(({ id }) => id),
      ),
    );
  await notifyMembersChanged(
    tx,
    [...join, ...leave].map(({ label_id }) => label_id),
  );
  if (answers.emails.length > 0) await writeEmails(tx, answers.emails);
}

/**
 * Drops results of an outdated label query. This server may not have been notified of the change yet; the hosts are
 * queried again at their next poll.
 */
async function stillAsked(tx: ServerTx, { join, leave }: Membership): Promise<Membership> {
  const labelIds = [...new Set([...join, ...leave].map(({ label_id }) => label_id))];
  if (labelIds.length === 0) return { join, leave };
  const labels = await tx.labels.pick(["id", "asked_revision"], { where: oneOf("id", labelIds) });
  const revisions = new Map(labels.map(({ id, asked_revision }) => [id, asked_revision]));
  const isAsked = ({ label_id, asked }: MemberChange) => asked === null || (revisions.get(label_id) ?? 0) <= asked;
  const outdated = [...join, ...leave].filter((one) => !isAsked(one)).map(({ host_id }) => host_id);
  if (outdated.length === 0) return { join, leave };
  await tx.hosts.update({ where: oneOf("id", [...new Set(outdated)]), set: { label_updated_at: null } });
  await tx.notify(channels.hosts, hostsPayload([...new Set(outdated)]));
  return { join: join.filter(isAsked), leave: leave.filter(isAsked) };
}

/** Groups hosts by the set of changed columns, with one update per group. */
async function writeHosts(tx: ServerTx, now: number, hosts: Answers["hosts"]): Promise<void> {
  const groups = new Map<string, ({ id: number } & Partial<HostRow>)[]>();
  const seen: { id: number; seen_time: string; online_until: string }[] = [];
  const doubtful: number[] = [];
  for (const { row, set } of hosts) {
    const changed = Object.entries(set).filter(
      ([column, value]) => value !== undefined && row[column as keyof HostRow] !== value,
    );
    if (changed.length === 0) continue;
    const columns = changed.map(([column]) => column).sort();
    const group = groups.get(columns.join()) ?? [];
    groups.set(columns.join(), group);
    group.push({ id: row.id, updated_at: isoAt(now), ...Object.fromEntries(changed) });
    if (columns.some((column) => inState.has(column))) doubtful.push(row.id);
    if (columns.includes("distributed_interval") || columns.includes("config_tls_refresh"))
      seen.push(seenRow({ ...row, ...set }, now));
  }
  for (const group of groups.values()) await tx.hosts.updateEach(group);
  if (seen.length > 0) await tx.hostSeen.updateEach(seen);
  if (doubtful.length > 0) await tx.notify(channels.hosts, hostsPayload(doubtful));
}

/** Columns that every server caches in `HostState`; a change of one of them is broadcast. */
const inState: ReadonlySet<string> = new Set([
  "hostname",
  "platform",
  "platform_like",
  "qengine_version",
  "distributed_interval",
  "config_tls_refresh",
  "logger_tls_period",
]);

/** The last-seen row of a host that has just called. */
export function seenRow(
  host: Pick<HostRow, "id" | "distributed_interval" | "config_tls_refresh">,
  now: number,
): { id: number; seen_time: string; online_until: string } {
  const seen_time = isoAt(now);
  const online_until = onlineUntil(seen_time, host.distributed_interval, host.config_tls_refresh);
  return { id: host.id, seen_time, online_until };
}

async function writeEmails(tx: ServerTx, reported: Answers["emails"]): Promise<void> {
  const ids = reported.map(({ hostId }) => hostId);
  const stored = await tx.hostEmails.list({ where: and(oneOf("host_id", ids), eq("source", BROWSER)) });
  const wanted = new Map(reported.map(({ hostId, emails }) => [hostId, new Set(emails.slice(0, 100))]));
  const gone = stored.filter(({ host_id, email }) => !wanted.get(host_id)?.has(email)).map(({ id }) => id);
  for (const { host_id, email } of stored) wanted.get(host_id)?.delete(email);
  const fresh = [...wanted].flatMap(([host_id, emails]) =>
    [...emails].map((email) => ({ host_id, email, source: BROWSER })),
  );
  if (gone.length > 0) await tx.hostEmails.delete(oneOf("id", gone));
  if (fresh.length > 0)
    await tx.hostEmails.upsert(fresh, { on: ["host_id", "email", "source"], set: [], returning: [] });
}
