import type { Host } from "../../../../api/hosts/host.ts";
import { Badge } from "../../../parts/badge.tsx";
import { bytes } from "../../../parts/bytes.ts";
import type { Column } from "../../../parts/list/definition.ts";
import { Time } from "../../../parts/time.tsx";

export const hostColumns: readonly Column<Host>[] = [
  { id: "name", name: "Name", order: "display_name", cell: ({ display_name }) => display_name },
  {
    id: "status",
    name: "Status",
    cell: ({ status }) => <Badge tone={status === "online" ? "good" : "quiet"}>{status}</Badge>,
  },
  { id: "issues", name: "Issues", order: "issues", isNumber: true, cell: ({ issues }) => issues.total_issues_count },
  { id: "team", name: "Team", order: "team_name", cell: ({ team_name }) => team_name ?? "" },
  { id: "os", name: "Operating system", order: "os_version", cell: ({ os_version }) => os_version },
  { id: "serial", name: "Serial number", order: "hardware_serial", cell: ({ hardware_serial }) => hardware_serial },
  { id: "model", name: "Model", order: "hardware_model", cell: ({ hardware_model }) => hardware_model },
  { id: "ip", name: "Private address", order: "primary_ip", cell: ({ primary_ip }) => primary_ip },
  { id: "seen", name: "Last seen", order: "seen_time", cell: ({ seen_time }) => <Time value={seen_time} /> },
  {
    id: "fetched",
    name: "Last fetched",
    order: "detail_updated_at",
    isOptional: true,
    cell: ({ detail_updated_at }) => <Time value={detail_updated_at} />,
  },
  { id: "hostname", name: "Hostname", order: "hostname", isOptional: true, cell: ({ hostname }) => hostname },
  { id: "uuid", name: "UUID", order: "uuid", isOptional: true, cell: ({ uuid }) => uuid },
  { id: "cpu", name: "Processor", order: "cpu_type", isOptional: true, cell: ({ cpu_type }) => cpu_type },
  {
    id: "memory",
    name: "Memory",
    order: "memory",
    isOptional: true,
    isNumber: true,
    cell: ({ memory }) => bytes(memory),
  },
  {
    id: "disk",
    name: "Free disk space",
    order: "gigs_disk_space_available",
    isOptional: true,
    isNumber: true,
    cell: ({ gigs_disk_space_available: gigabytes }) => `${gigabytes} GB`,
  },
  {
    id: "agent",
    name: "Agent",
    order: "agent_version",
    isOptional: true,
    cell: ({ agent_version }) => agent_version,
  },
  { id: "mdm", name: "Device management", isOptional: true, cell: ({ mdm }) => mdm.enrollment_status ?? "Off" },
];
