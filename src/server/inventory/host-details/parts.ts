// Host data from other tables: labels and email addresses.
import type { DeviceMapping, Host } from "../../../api/hosts/host.ts";
import type { Label } from "../../../api/hosts/label.ts";
import { IDP_SOURCE, shownEmails } from "../../hosts/hosts/emails.ts";
import type { hostEmails } from "../../hosts/hosts/tables.ts";
import type { labels } from "../../hosts/labels/tables.ts";
import type { Person } from "../../hosts/scim/people.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import { oneOf } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import type { RowOf } from "../../platform/store/table.ts";

type Email = RowOf<typeof hostEmails>;

/** The end users of a host: one entry that combines the identity provider account and the other addresses. */
export function endUsers(addresses: readonly Email[], person: Person | undefined): NonNullable<Host["end_users"]> {
  if (addresses.length === 0) return [];
  const account = addresses.find(({ source }) => source === IDP_SOURCE);
  return [
    {
      idp_info_updated_at: person?.updated_at ?? null,
      idp_id: person?.external_id ?? "",
      idp_username: person?.user_name ?? account?.email ?? "",
      idp_full_name: person?.full_name ?? "",
      idp_department: person?.department ?? "",
      idp_groups: [...(person?.groups ?? [])],
      other_emails: deviceMapping(addresses.filter((entry) => entry !== account)),
    },
  ];
}

export const deviceMapping = (addresses: readonly Email[]): DeviceMapping[] =>
  shownEmails(addresses).sort((a, b) => compareText(a.source, b.source) || compareText(a.email, b.email));

export async function labelsOfHosts(
  { store }: Pick<Context, "store">,
  ids: readonly number[],
): Promise<Map<number, Host["labels"]>> {
  const members = await store.labelMembers.pick(["label_id", "host_id"], { where: oneOf("host_id", ids) });
  const labelRows = await store.labels.getMany([...new Set(members.map((member) => member.label_id))]);
  const labels = byId(labelRows);
  const grouped = groupBy(members, (member) => member.host_id);
  return new Map(
    [...grouped].map(([hostId, memberships]) => [
      hostId,
      memberships
        .map((member) => labels.get(member.label_id))
        .filter((label) => label !== undefined)
        .sort((a, b) => a.id - b.id)
        .map(labelOf),
    ]),
  );
}

export async function emailsOfHosts(
  { store }: Pick<Context, "store">,
  ids: readonly number[],
): Promise<Map<number, Email[]>> {
  return groupBy(await store.hostEmails.list({ where: oneOf("host_id", ids) }), (entry) => entry.host_id);
}

/** How long it is shown that a copy of a host's agent was used. */
const CONFLICT_SHOWN = days(30);

/** The hosts whose agent was used on another machine, too. */
export async function conflictsOfHosts(
  { store, clock }: Pick<Context, "store" | "clock">,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NonNullable<Host["agent_conflict"]>>> {
  const since = isoAt(clock.now() - CONFLICT_SHOWN);
  const agents = await store.managedAgents.pick(["id", "conflict"], { where: oneOf("id", ids) });
  return new Map(
    agents.flatMap(({ id, conflict }) => (conflict && conflict.detected_at > since ? [[id, conflict]] : [])),
  );
}

const labelOf = ({
  revision: _revision,
  asked_revision: _asked,
  asked_teams: _teams,
  author_id: _author,
  criteria: _criteria,
  ...label
}: RowOf<typeof labels>): Label => label;
