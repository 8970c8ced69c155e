import { selfServiceCategoriesApi, titleIconsApi } from "../../../api/software/self-service.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { createCategory, deleteCategory, listCategories, renameCategory } from "./categories.ts";
import { deleteIcon, getIcon, setIcon } from "./icons.ts";

export const selfServiceRoutes: readonly Route[] = [
  route(selfServiceCategoriesApi.list, ({ query }, ctx) => listCategories(ctx, query)),
  route(selfServiceCategoriesApi.create, ({ body }, ctx) => createCategory(ctx, body)),
  route(selfServiceCategoriesApi.update, ({ params, body }, ctx) => renameCategory(ctx, params.id, body)),
  route(selfServiceCategoriesApi.delete, ({ params }, ctx) => deleteCategory(ctx, params.id)),
  route(titleIconsApi.get, ({ params, query }, ctx, reply) => getIcon(ctx, params.id, query.team_id, reply)),
  route(titleIconsApi.set, ({ params, query, body }, ctx) => setIcon(ctx, params.id, query.team_id, body)),
  route(titleIconsApi.delete, ({ params, query }, ctx) => deleteIcon(ctx, params.id, query.team_id)),
];
