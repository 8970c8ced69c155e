import { approvalsApi } from "../../../api/hosts/approvals.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { approve, deny } from "./decide.ts";
import { getApproval, listApprovals } from "./view.ts";

export const approvalRoutes: readonly Route[] = [
  route(approvalsApi.list, ({ query }, ctx) => listApprovals(ctx, query)),
  route(approvalsApi.get, async ({ params }, ctx) => ({ approval: await getApproval(ctx, params.id) })),
  route(approvalsApi.approve, async ({ params }, ctx, reply) => {
    const { approval, goesOn } = await approve(ctx, params.id);
    if (goesOn) reply.status = 202;
    return { approval };
  }),
  route(approvalsApi.deny, async ({ params, body }, ctx) => ({ approval: await deny(ctx, params.id, body.reason) })),
];
