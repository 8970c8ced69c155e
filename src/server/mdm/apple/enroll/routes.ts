import { appleEnrollApi, automaticEnrollApi, otaEnrollApi } from "../../../../api/apple-enroll.ts";
import type { Content } from "../../../../api/bodies.ts";
import type { Context } from "../../../core/context.ts";
import { type Reply, type Route, route } from "../../../core/http/route.ts";
import { type Asked, automaticProfile } from "./automatic.ts";
import { manualProfile } from "./manual.ts";
import { otaProfile, otaStep } from "./over-the-air.ts";
import { PROFILE_FILE } from "./profile.ts";

const profile = (content: Buffer): Content => ({ content: new Uint8Array(content), name: PROFILE_FILE });

export const appleEnrollRoutes: readonly Route[] = [
  route(appleEnrollApi.manual, async ({ query }, ctx) => profile(await manualProfile(ctx, query))),
];

const DEVICE_INFO = "x-apple-aspen-deviceinfo";

async function automatic(ctx: Context, asked: Asked, reply: Reply): Promise<Content> {
  const found = await automaticProfile(ctx, asked);
  if (Buffer.isBuffer(found)) return profile(found);
  reply.status = 403;
  const code = { code: "com.apple.softwareupdate.required", details: { OSVersion: found.osVersion } };
  return { type: "application/json", content: JSON.stringify(code) };
}

export const automaticEnrollRoutes: readonly Route[] = [
  route(automaticEnrollApi.get, ({ query }, ctx, reply) => {
    const header = ctx.headers?.get(DEVICE_INFO) ?? null;
    const machineInfo = header === null ? null : Buffer.from(header, "base64");
    return automatic(ctx, { ...query, machineInfo }, reply);
  }),
  route(automaticEnrollApi.post, ({ query, body }, ctx, reply) =>
    automatic(ctx, { ...query, machineInfo: Buffer.from(body.bytes) }, reply),
  ),
];

export const otaEnrollRoutes: readonly Route[] = [
  route(otaEnrollApi.get, async ({ query }, ctx) => profile(await otaProfile(ctx, query.enroll_secret))),
  route(otaEnrollApi.post, async ({ query, body }, ctx) =>
    profile(await otaStep(ctx, query.enroll_secret, Buffer.from(body.bytes))),
  ),
];
