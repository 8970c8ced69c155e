// Approval requests, created as the server creates them.
import type { Approval } from "../../src/api/hosts/approvals.ts";
import { requestApproval } from "../../src/server/hosts/approvals/request.ts";
import type { ApprovalAction, ApprovalSelection } from "../../src/server/hosts/approvals/tables.ts";
import { viewerOf } from "../../src/server/platform/core/security/viewer.ts";
import type { TestApp } from "./app.ts";

/** A request of that user for these hosts, whatever the server's settings are. */
export async function makeApproval(
  t: Pick<TestApp, "services" | "store">,
  userId: number,
  hostIds: readonly number[],
  action: ApprovalAction = "delete_hosts",
  asked: ApprovalSelection = { ids: hostIds },
): Promise<Approval> {
  const user = await viewerOf(t.store, (await t.store.users.get(userId))!, null);
  const ctx = { ...t.services, user, address: "", requestId: "made" };
  return requestApproval(ctx, action, asked, hostIds);
}
