import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { Badge } from "../../../parts/badge.tsx";
import { bytes } from "../../../parts/bytes.ts";
import type { Column } from "../../../parts/list/definition.ts";
import { Time } from "../../../parts/time.tsx";

/** Labels that an administrator has made; built-in ones are told by platform and operating system. */
function HostLabels({ labels }: { readonly labels: NonNullable<Host["labels"]> }): ReactElement {
  const shown = labels.filter(({ label_type }) => label_type === "regular").map(({ name }) => name);
  return <span title={shown.join(", ")}>{shown.join(", ")}</span>;
}

export const hostColumns: readonly Column<Host>[] = [
  {
    id: "name",
    name: "Name",
    fields: ["display_name", "team_id"],
    order: "display_name",
    cell: ({ display_name }) => display_name,
  },
  {
    id: "status",
    name: "Status",
    fields: ["status"],
    cell: ({ status }) => <Badge tone={status === "online" ? "good" : "quiet"}>{status}</Badge>,
  },
  {
    id: "issues",
    name: "Issues",
    fields: ["issues"],
    order: "issues",
    isNumber: true,
    cell: ({ issues }) => issues.total_issues_count,
  },
  { id: "team", name: "Team", fields: ["team_name"], order: "team_name", cell: ({ team_name }) => team_name ?? "" },
  {
    id: "labels",
    name: "Labels",
    fields: ["labels"],
    cell: ({ labels = [] }) => <HostLabels labels={labels} />,
  },
  {
    id: "os",
    name: "Operating system",
    fields: ["os_version"],
    order: "os_version",
    cell: ({ os_version }) => os_version,
  },
  {
    id: "serial",
    name: "Serial number",
    fields: ["hardware_serial"],
    order: "hardware_serial",
    cell: ({ hardware_serial }) => hardware_serial,
  },
  {
    id: "model",
    name: "Model",
    fields: ["hardware_model"],
    order: "hardware_model",
    cell: ({ hardware_model }) => hardware_model,
  },
  {
    id: "ip",
    name: "Private address",
    fields: ["primary_ip"],
    order: "primary_ip",
    cell: ({ primary_ip }) => primary_ip,
  },
  {
    id: "seen",
    name: "Last seen",
    fields: ["seen_time"],
    order: "seen_time",
    cell: ({ seen_time }) => <Time value={seen_time} />,
  },
  {
    id: "fetched",
    name: "Last fetched",
    fields: ["detail_updated_at"],
    order: "detail_updated_at",
    isOptional: true,
    cell: ({ detail_updated_at }) => <Time value={detail_updated_at} />,
  },
  {
    id: "hostname",
    name: "Hostname",
    fields: ["hostname"],
    order: "hostname",
    isOptional: true,
    cell: ({ hostname }) => hostname,
  },
  { id: "uuid", name: "UUID", fields: ["uuid"], order: "uuid", isOptional: true, cell: ({ uuid }) => uuid },
  {
    id: "cpu",
    name: "Processor",
    fields: ["cpu_type"],
    order: "cpu_type",
    isOptional: true,
    cell: ({ cpu_type }) => cpu_type,
  },
  {
    id: "memory",
    name: "Memory",
    fields: ["memory"],
    order: "memory",
    isOptional: true,
    isNumber: true,
    cell: ({ memory }) => bytes(memory),
  },
  {
    id: "disk",
    name: "Free disk space",
    fields: ["gigs_disk_space_available"],
    order: "gigs_disk_space_available",
    isOptional: true,
    isNumber: true,
    cell: ({ gigs_disk_space_available: gigabytes }) => `${gigabytes} GB`,
  },
  {
    id: "agent",
    name: "Agent",
    fields: ["agent_version"],
    order: "agent_version",
    isOptional: true,
    cell: ({ agent_version }) => agent_version,
  },
  {
    id: "mdm",
    name: "Device management",
    fields: ["mdm"],
    isOptional: true,
    cell: ({ mdm }) => mdm.enrollment_status ?? "Off",
  },
];
