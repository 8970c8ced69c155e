import type { Policy } from "../../../../api/checks/policies.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { formatted } from "../../../parts/counted.ts";
import type { Column } from "../../../parts/list/definition.ts";
import { Time } from "../../../parts/time.tsx";

/** A number of hosts, which opens these hosts. */
const hosts = (id: number, response: string, count: number) =>
  count === 0 ? (
    "0"
  ) : (
    <PageLink href="/hosts" query={{ policy_id: id, policy_response: response }}>
      {formatted(count)}
    </PageLink>
  );

/** What happens when a host begins to fail, in words. */
export const automationsOf = (policy: Policy): string =>
  [
    policy.install_software && `install ${policy.install_software.display_name || policy.install_software.name}`,
    policy.run_script && `run ${policy.run_script.name}`,
    policy.resend_configuration_profile && `resend ${policy.resend_configuration_profile.name}`,
    policy.calendar_events_enabled && "calendar event",
    policy.conditional_access_enabled && "block access",
  ]
    .filter(Boolean)
    .join(", ");

export const policyColumns: readonly Column<Policy>[] = [
  { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
  {
    id: "passing",
    name: "Passing",
    order: "passing_host_count",
    isNumber: true,
    cell: ({ id, passing_host_count }) => hosts(id, "passing", passing_host_count),
  },
  {
    id: "failing",
    name: "Failing",
    order: "failing_host_count",
    isNumber: true,
    cell: ({ id, failing_host_count }) => hosts(id, "failing", failing_host_count),
  },
  {
    id: "unanswered",
    name: "No answer",
    isNumber: true,
    cell: ({ id, unanswered_host_count }) => hosts(id, "none", unanswered_host_count),
  },
  {
    id: "errors",
    name: "Errors",
    isNumber: true,
    cell: ({ error_host_count, error_message }) =>
      error_host_count === 0 ? "" : <span title={error_message ?? undefined}>{formatted(error_host_count)}</span>,
  },
  {
    id: "critical",
    name: "Critical",
    order: "critical",
    cell: ({ critical }) => critical && <Badge tone="note">critical</Badge>,
  },
  {
    id: "scope",
    name: "Scope",
    cell: ({ team_id }) => (team_id === null ? "All teams" : team_id === 0 ? "No team" : "Team"),
  },
  { id: "automations", name: "Automations", cell: automationsOf },
  { id: "platform", name: "Platforms", order: "platform", cell: ({ platform }) => platform || "all" },
  { id: "author", name: "Author", isOptional: true, cell: ({ author_name }) => author_name },
  {
    id: "updated",
    name: "Changed",
    order: "updated_at",
    isOptional: true,
    cell: ({ updated_at }) => <Time value={updated_at} />,
  },
];
