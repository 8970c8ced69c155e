// The transaction of an ingest: what is written, and nothing that has not changed.
import { isoAt } from "../core/clock.ts";
import { tellMembersChanged } from "../labels/counts.ts";
import { type HostMdmRow, mdmTold } from "../mdm/ingest.ts";
import type { MunkiPlan } from "../munki/ingest.ts";
import type { HostSoftwareRow } from "../software/ingest.ts";
import { and, eq, oneOf } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";
import type { HostDetailsRow } from "./host-details.ts";
import type { HostRow } from "./host-state.ts";
import { onlineUntil } from "./inventory/status.ts";

export interface Membership {
  readonly join: readonly { label_id: number; host_id: number }[];
  /** Membership rows that go. */
  readonly leave: readonly { id: number; label_id: number }[];
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
  if (answers.mdmRows.length > 0) await tx.hostMdm.upsert(answers.mdmRows, { on: ["id"], set: mdmTold, returning: [] });
  if (answers.munki.rows.length > 0) await tx.hostMunki.upsert(answers.munki.rows, { on: ["id"], returning: [] });
  if (answers.munki.gone.length > 0) await tx.hostMunki.delete(oneOf("id", answers.munki.gone));
  const { join, leave } = answers.membership;
  if (join.length > 0) await tx.labelMembers.upsert(join, { on: ["label_id", "host_id"], set: [], returning: [] });
  if (leave.length > 0)
    await tx.labelMembers.delete(
      oneOf(
        "id",
        leave.map(({ id }) => id),
      ),
    );
  await tellMembersChanged(
    tx,
    [...join, ...leave].map(({ label_id }) => label_id),
  );
  if (answers.emails.length > 0) await writeEmails(tx, answers.emails);
}

/** Hosts of which the same columns changed are written together. */
async function writeHosts(tx: ServerTx, now: number, hosts: Answers["hosts"]): Promise<void> {
  const groups = new Map<string, ({ id: number } & Partial<HostRow>)[]>();
  const seen: { id: number; seen_time: string; online_until: string }[] = [];
  for (const { row, set } of hosts) {
    const changed = Object.entries(set).filter(
      ([column, value]) => value !== undefined && row[column as keyof HostRow] !== value,
    );
    if (changed.length === 0) continue;
    const columns = changed.map(([column]) => column).sort();
    const group = groups.get(columns.join()) ?? [];
    groups.set(columns.join(), group);
    group.push({ id: row.id, updated_at: isoAt(now), ...Object.fromEntries(changed) });
    if (columns.includes("distributed_interval") || columns.includes("config_tls_refresh"))
      seen.push(seenRow({ ...row, ...set }, now));
  }
  for (const group of groups.values()) await tx.hosts.updateEach(group);
  if (seen.length > 0) await tx.hostSeen.updateEach(seen);
}

/** A host's row of last-seen times, when it is heard of now. */
export function seenRow(
  host: Pick<HostRow, "id" | "distributed_interval" | "config_tls_refresh">,
  now: number,
): { id: number; seen_time: string; online_until: string } {
  const seen_time = isoAt(now);
  const online_until = onlineUntil(seen_time, host.distributed_interval, host.config_tls_refresh);
  return { id: host.id, seen_time, online_until };
}

async function writeEmails(tx: ServerTx, told: Answers["emails"]): Promise<void> {
  const ids = told.map(({ hostId }) => hostId);
  const held = await tx.hostEmails.list({ where: and(oneOf("host_id", ids), eq("source", BROWSER)) });
  const wanted = new Map(told.map(({ hostId, emails }) => [hostId, new Set(emails.slice(0, 100))]));
  const gone = held.filter(({ host_id, email }) => !wanted.get(host_id)?.has(email)).map(({ id }) => id);
  for (const { host_id, email } of held) wanted.get(host_id)?.delete(email);
  const fresh = [...wanted].flatMap(([host_id, emails]) =>
    [...emails].map((email) => ({ host_id, email, source: BROWSER })),
  );
  if (gone.length > 0) await tx.hostEmails.delete(oneOf("id", gone));
  if (fresh.length > 0)
    await tx.hostEmails.upsert(fresh, { on: ["host_id", "email", "source"], set: [], returning: [] });
}
