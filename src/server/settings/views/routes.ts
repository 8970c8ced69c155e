import { viewsApi } from "../../../api/settings/views.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { createView, deleteView, getView, listViews, modifyView } from "./service.ts";

export const viewRoutes: readonly Route[] = [
  route(viewsApi.list, ({ query }, ctx) => listViews(ctx, query)),
  route(viewsApi.get, async ({ params }, ctx) => ({ view: await getView(ctx, params.id) })),
  route(viewsApi.create, async ({ body }, ctx) => ({ view: await createView(ctx, body) })),
  route(viewsApi.modify, async ({ params, body }, ctx) => ({ view: await modifyView(ctx, params.id, body) })),
  route(viewsApi.delete, async ({ params }, ctx) => {
    await deleteView(ctx, params.id);
    return {};
  }),
];
