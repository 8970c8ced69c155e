// Columns of approval requests, and a one-line description of a request.
import { Approval } from "../../api/hosts/approvals.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "../output/time-column.ts";

export const approvalView = (relative: boolean, now: Date): View => ({
  schema: () => Approval,
  columns: [
    { key: "id" },
    { key: "state" },
    { key: "action" },
    { key: "hosts_count", header: "hosts" },
    { key: "requested_by.email", header: "requested by" },
    timeColumn("created_at", "requested", relative, now),
    { key: "decided_by.email", header: "decided by" },
    { key: "reason" },
    { key: "error" },
  ],
});

const verbs = { delete_hosts: "delete", wipe_host: "wipe", wipe_hosts: "wipe" } as const;

/** `wipe box-1, requested by mia@example.com`. */
export function describeApproval({ action, hosts_count, hosts, requested_by, request_reason }: Approval): string {
  const [only] = hosts;
  const what = hosts_count === 1 && only ? printable(only.display_name) : plural(hosts_count, "host");
  // Servers of version 0.2.0 send no reason.
  const reason = request_reason ? `: ${printable(request_reason)}` : "";
  return `${verbs[action]} ${what}, requested by ${printable(requested_by.email)}${reason}`;
}
