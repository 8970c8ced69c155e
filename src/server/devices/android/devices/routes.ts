import { androidApi } from "../../../../api/devices/android.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { createEnrollmentToken } from "./enrollment-token.ts";

export const androidDeviceRoutes: readonly Route[] = [
  route(androidApi.enrollmentToken, ({ query }, ctx) => createEnrollmentToken(ctx, query)),
];
