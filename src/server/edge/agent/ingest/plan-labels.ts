import type { LabelCache } from "../../../hosts/labels/dynamic.ts";
import type { Membership } from "../../../hosts/labels/ingest.ts";
import { reaches } from "../../../hosts/labels/reach.ts";
import type { HostErrors } from "../../../hosts/query-errors/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import type { PlannedWrite } from "./planned-write.ts";

interface PlannedLabels {
  readonly membership: Membership;
  readonly reports: readonly HostErrors[];
}

/** Plans the memberships of hosts in labels, and the errors of label queries. */
export async function planLabels(
  store: ServerTx,
  labels: LabelCache,
  planned: readonly PlannedWrite[],
): Promise<PlannedLabels> {
  const join: Membership["join"][number][] = [];
  const leave: Membership["leave"][number][] = [];
  const reporting = planned.filter(({ item }) => item.results.labelsReported);
  const reports: HostErrors[] = [];
  if (reporting.length === 0) return { membership: { join, leave }, reports };
  const newest = reporting.reduce((most, { item }) => Math.max(most, item.results.labelsRevision ?? 0), 0);
  const answered = new Set(
    reporting.flatMap(({ item: { results } }) => [...results.labels.keys(), ...results.labelErrors.keys()]),
  );
  const { byId } = await labels.covering(newest, answered);
  const members = await store.labelMembers.list({
    where: oneOf(
      "host_id",
      reporting.map(({ row }) => row.id),
    ),
  });
  const memberships = new Map(members.map((member) => [`${member.host_id} ${member.label_id}`, member.id]));
  const isAsked = (labelId: number, teamId: number | null) => reaches(byId.get(labelId)?.asked_teams ?? null, teamId);
  // Labels of the previous team no longer apply after a transfer.
  const teams = new Map(reporting.map(({ row }) => [row.id, row.team_id]));
  for (const { id, host_id, label_id } of members)
    if (!isAsked(label_id, teams.get(host_id) ?? null)) leave.push({ id, label_id, host_id, revision: null });
  for (const { item, row, set } of reporting) {
    const { labelErrors, labelsRevision } = item.results;
    const isCurrent = (id: number) => labelsRevision === null || (byId.get(id)?.asked_revision ?? 0) <= labelsRevision;
    const errors = [...labelErrors].filter(([id]) => byId.has(id) && isAsked(id, row.team_id) && isCurrent(id));
    reports.push({ hostId: row.id, of: "label_id", errors: new Map(errors), succeeded: "all" });
    for (const [labelId, isMember] of item.results.labels) {
      const label = byId.get(labelId);
      if (!label || !isAsked(labelId, row.team_id)) continue;
      // The result is for an outdated label query; the host is queried again at its next poll.
      const revision = item.results.labelsRevision;
      if (revision !== null && label.asked_revision > revision) {
        set.label_updated_at = null;
        continue;
      }
      const membershipId = memberships.get(`${row.id} ${labelId}`);
      if (isMember && membershipId === undefined) join.push({ label_id: labelId, host_id: row.id, revision });
      else if (!isMember && membershipId !== undefined)
        leave.push({ id: membershipId, label_id: labelId, host_id: row.id, revision });
    }
  }
  return { membership: { join, leave }, reports };
}
