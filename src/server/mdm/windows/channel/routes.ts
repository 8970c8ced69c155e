import { windowsChannelApi } from "../../../../api/windows.ts";
import { BadSyncml } from "../../../../syncml/value.ts";
import { badRequest } from "../../../core/errors.ts";
import { type Route, route } from "../../../core/http/route.ts";
import { manage } from "./session.ts";

export const windowsChannelRoutes: readonly Route[] = [
  route(windowsChannelApi.manage, async ({ body }, ctx) => {
    try {
      return { content: await manage(ctx, body.bytes, ctx.clientCertificate?.() ?? null) };
    } catch (error) {
      throw error instanceof BadSyncml ? badRequest(error.message) : error;
    }
  }),
];
