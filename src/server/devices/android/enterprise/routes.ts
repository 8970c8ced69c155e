import { createHash } from "node:crypto";
import { androidApi, androidServiceApi } from "../../../../api/devices/android.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { enterpriseId, requireEnterprise } from "./enterprise.ts";
import { finishSignUp, startSignUp } from "./sign-up.ts";
import { followSignUp } from "./sign-up-events.ts";
import { addWebApp } from "./web-apps.ts";

export const androidEnterpriseRoutes: readonly Route[] = [
  route(androidApi.get, async (_, ctx) => ({ android_enterprise_id: enterpriseId(await requireEnterprise(ctx)) })),
  route(androidApi.signUp, async (_, ctx) => ({ android_enterprise_signup_url: await startSignUp(ctx) })),
  route(androidApi.addWebApp, ({ body }, ctx) => addWebApp(ctx, body)),
  route(androidApi.signUpEvents, async (_, ctx) => followSignUp(ctx)),
];

const CLOSE = "window.close();";
const closing = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Device management of Android is turned on</title>
<p>Device management of Android is turned on. You can close this window.</p>
<script>${CLOSE}</script>
</html>
`;
const closingPolicy = `default-src 'none'; script-src 'sha256-${createHash("sha256").update(CLOSE).digest("base64")}'`;

export const androidSignUpRoutes: readonly Route[] = [
  route(androidServiceApi.connect, async ({ params, query }, ctx, reply) => {
    await finishSignUp(ctx, params.token, query.enterpriseToken);
    reply.headers["content-security-policy"] = closingPolicy;
    return { content: closing };
  }),
];
