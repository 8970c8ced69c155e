import { appConfigApi } from "../../../api/settings/app-config.ts";
import { mailApi } from "../../../api/settings/mail.ts";
import { versionApi } from "../../../api/settings/version.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { version } from "../../platform/core/version.ts";
import { certificateChain } from "./certificate.ts";
import { getConfig } from "./service.ts";
import { testMail } from "./test-mail.ts";

export const appConfigRoutes: readonly Route[] = [
  route(appConfigApi.get, (_, ctx) => getConfig(ctx)),
  route(versionApi.get, async () => version),
  route(appConfigApi.certificate, (_, ctx) => certificateChain(ctx)),
  route(mailApi.testMail, ({ body }, ctx) => testMail(ctx, body)),
];
