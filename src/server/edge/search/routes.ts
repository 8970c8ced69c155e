import { searchApi } from "../../../api/edge/search.ts";
import { route } from "../../platform/core/http/route.ts";
import { searchAll } from "./service.ts";

export const searchRoutes = [route(searchApi.search, ({ query }, ctx) => searchAll(ctx, query))];
