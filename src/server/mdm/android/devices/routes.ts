import { androidApi, androidServiceApi } from "../../../../api/android.ts";
import { type Route, route } from "../../../core/http/route.ts";
import { createEnrollmentToken } from "./enrollment-token.ts";
import { takeMessage } from "./messages.ts";

export const androidDeviceRoutes: readonly Route[] = [
  route(androidApi.enrollmentToken, ({ query }, ctx) => createEnrollmentToken(ctx, query)),
];

export const androidMessageRoutes: readonly Route[] = [
  route(androidServiceApi.message, async ({ query, body }, ctx) => {
    await takeMessage(ctx, query.token, body.bytes);
    return {};
  }),
];
