import { appConfigApi } from "../../../api/settings/app-config.ts";
import { mailApi } from "../../../api/settings/mail.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { certificateChain } from "./certificate.ts";
import { getConfig, modifyConfig } from "./service.ts";
import { testMail } from "./test-mail.ts";

export const appConfigRoutes: readonly Route[] = [
  route(appConfigApi.get, (_, ctx) => getConfig(ctx)),
  route(appConfigApi.modify, ({ body, query }, ctx) => modifyConfig(ctx, body, query)),
  route(appConfigApi.certificate, (_, ctx) => certificateChain(ctx)),
  route(mailApi.testMail, ({ body }, ctx) => testMail(ctx, body)),
];
