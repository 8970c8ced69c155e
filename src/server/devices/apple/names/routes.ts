import { hostNamesApi } from "../../../../api/devices/host-names.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { setNameTemplate } from "../../host-names/settings.ts";
import { resendName } from "./resend.ts";

export const hostNameRoutes: readonly Route[] = [
  route(hostNamesApi.setTemplate, ({ body }, ctx) => setNameTemplate(ctx, body)),
  route(hostNamesApi.resend, ({ params }, ctx) => resendName(ctx, params.id)),
];
