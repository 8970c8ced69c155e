import { operationsApi } from "../../../api/hosts/operations.ts";
import { route } from "../../platform/core/http/route.ts";
import { cancelOperations } from "./cancel-selected.ts";
import { getOperation, listOperations } from "./list.ts";

export const operationRoutes = [
  route(operationsApi.list, async ({ query }, ctx, reply) => {
    const { reply: page, total } = await listOperations(ctx, query);
    if (total !== null) reply.headers["x-total-count"] = String(total);
    return page;
  }),
  route(operationsApi.get, async ({ params }, ctx) => ({ operation: await getOperation(ctx, params.id) })),
  route(operationsApi.cancel, ({ body }, ctx) => cancelOperations(ctx, body)),
];
