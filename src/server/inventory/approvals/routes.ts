import { approvalsApi } from "../../../api/hosts/approvals.ts";
import { type ApprovedActs, approve, deny } from "../../hosts/approvals/decide.ts";
import { getApproval, listApprovals } from "../../hosts/approvals/view.ts";
import { actNow } from "../../hosts/host-actions/actions.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { chosenIds } from "../host-list/chosen.ts";
import { runApproved } from "./run.ts";

export const approvedActs: ApprovedActs = {
  hosts: chosenIds,
  wipe: (ctx, host, wipeType) => actNow(ctx, host, "wipe", wipeType ? { wipeType } : {}),
  many: runApproved,
};

export const approvalRoutes: readonly Route[] = [
  route(approvalsApi.list, ({ query }, ctx) => listApprovals(ctx, query)),
  route(approvalsApi.get, async ({ params }, ctx) => ({ approval: await getApproval(ctx, params.id) })),
  route(approvalsApi.approve, async ({ params }, ctx, reply) => {
    const { approval, goesOn } = await approve(ctx, params.id, approvedActs);
    if (goesOn) reply.status = 202;
    return { approval };
  }),
  route(approvalsApi.deny, async ({ params, body }, ctx) => ({ approval: await deny(ctx, params.id, body.reason) })),
];
