// Columns of requests for approval, and how one is told in words.
import { Approval } from "../api/approvals.ts";
import { timeColumn } from "./host-view.ts";
import type { View } from "./output.ts";
import { plural, printable } from "./text.ts";

export const approvalView = (relative: boolean, now: Date): View => ({
  schema: Approval,
  columns: [
    { key: "id" },
    { key: "state" },
    { key: "action" },
    { key: "hosts_count", header: "hosts" },
    { key: "requested_by.email", header: "asked by" },
    timeColumn("created_at", "asked", relative, now),
    { key: "decided_by.email", header: "decided by" },
    { key: "reason" },
    { key: "error" },
  ],
});

const verbs = { delete_hosts: "delete", wipe_host: "wipe" } as const;

/** `wipe box-1, as mia@example.com asked`. */
export function toldApproval({ action, hosts_count, hosts, requested_by }: Approval): string {
  const [only] = hosts;
  const what = hosts_count === 1 && only ? printable(only.display_name) : plural(hosts_count, "host");
  return `${verbs[action]} ${what}, as ${printable(requested_by.email)} asked`;
}
