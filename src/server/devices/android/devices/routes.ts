import { androidApi, androidServiceApi } from "../../../../api/devices/android.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { createEnrollmentToken } from "./enrollment-token.ts";
import { takeMessage } from "./messages.ts";
import { checkSender } from "./sender.ts";

export const androidDeviceRoutes: readonly Route[] = [
  route(androidApi.enrollmentToken, ({ query }, ctx) => createEnrollmentToken(ctx, query)),
];

export const androidMessageRoutes: readonly Route[] = [
  route(
    androidServiceApi.message,
    async ({ body }, ctx) => {
      await takeMessage(ctx, body.bytes);
      return {};
    },
    { before: (ctx, { query }) => checkSender(ctx, query.token) },
  ),
];
