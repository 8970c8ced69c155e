import { appleEnrollApi } from "../../../../api/apple-enroll.ts";
import type { Content } from "../../../../api/bodies.ts";
import { type Route, route } from "../../../core/http/route.ts";
import { manualProfile } from "./manual.ts";
import { PROFILE_FILE } from "./profile.ts";

const profile = (content: Buffer): Content => ({ content: new Uint8Array(content), name: PROFILE_FILE });

export const appleEnrollRoutes: readonly Route[] = [
  route(appleEnrollApi.manual, async ({ query }, ctx) => profile(await manualProfile(ctx, query))),
];
