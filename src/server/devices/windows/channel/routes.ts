import { windowsChannelApi } from "../../../../api/devices/windows.ts";
import { BadSyncml } from "../../../../syncml/value.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { isEnrolledDevice, manage } from "./session.ts";

export const windowsChannelRoutes: readonly Route[] = [
  route(
    windowsChannelApi.manage,
    ({ body }, ctx) => refusing(async () => ({ content: await manage(ctx, body.bytes, certificateOf(ctx)) })),
    { isNamedBy: isEnrolledDevice },
  ),
];

const certificateOf = (ctx: Context): Buffer | null => ctx.clientCertificate?.() ?? null;

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BadSyncml ? badRequest(error.message) : error;
  }
}
