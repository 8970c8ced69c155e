import { translatorApi } from "../../api/translator.ts";
import { route } from "../core/http/route.ts";
import { translate } from "./service.ts";

export const translatorRoutes = [route(translatorApi.translate, ({ body }, ctx) => translate(ctx, body.list))];
