import { translatorApi } from "../../../api/inventory/translator.ts";
import { route } from "../../platform/core/http/route.ts";
import { translate } from "./service.ts";

export const translatorRoutes = [route(translatorApi.translate, ({ body }, ctx) => translate(ctx, body.list))];
