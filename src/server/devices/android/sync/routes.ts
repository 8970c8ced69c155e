import { androidServiceApi } from "../../../../api/devices/android.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { checkSender } from "./check-sender.ts";
import { takeMessage } from "./messages.ts";

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
