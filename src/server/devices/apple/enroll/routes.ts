import type { Content } from "../../../../api/bodies.ts";
import {
  accountEnrollApi,
  appleEnrollApi,
  automaticEnrollApi,
  mdmSsoApi,
  otaEnrollApi,
} from "../../../../api/devices/apple-enroll.ts";
import { callbackOfOthers } from "../../../accounts/sso/device-callbacks.ts";
import { endedCookie } from "../../../accounts/sso/session.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { type Reply, type Route, route } from "../../../platform/core/http/route.ts";
import { accountProfile, serviceDiscovery } from "./account.ts";
import { type AutomaticRequest, automaticProfile, type UpdateFirst } from "./automatic.ts";
import { type EndUserOutcome, finishEndUser, startAccount, startEndUser } from "./end-users.ts";
import { manualProfile } from "./manual.ts";
import { otaProfile, otaStep } from "./over-the-air.ts";
import { PROFILE_FILE } from "./profile.ts";

const profile = (content: Buffer): Content => ({ content: new Uint8Array(content), name: PROFILE_FILE });

export const appleEnrollRoutes: readonly Route[] = [
  route(appleEnrollApi.manual, async ({ query }, ctx) => profile(await manualProfile(ctx, query))),
];

const DEVICE_INFO = "x-apple-aspen-deviceinfo";

async function automatic(ctx: Context, request: AutomaticRequest, reply: Reply): Promise<Content> {
  const outcome = await automaticProfile(ctx, request);
  if (Buffer.isBuffer(outcome)) return profile(outcome);
  reply.status = 403;
  return { type: "application/json", content: updateText(outcome) };
}

const updateText = ({ osVersion }: UpdateFirst): string =>
  JSON.stringify({ code: "com.apple.softwareupdate.required", details: { OSVersion: osVersion } });

/** Demands an update from the browser of the setup assistant. */
export const updateFirst = (update: UpdateFirst): Response =>
  new Response(updateText(update), { status: 403, headers: { "content-type": "application/json" } });

/** What a device has sent in its header; null: nothing. */
export function machineInfoIn({ headers }: Pick<Context, "headers">): Buffer | null {
  const header = headers?.get(DEVICE_INFO) ?? null;
  return header === null ? null : Buffer.from(header, "base64");
}

export const automaticEnrollRoutes: readonly Route[] = [
  route(automaticEnrollApi.get, ({ query }, ctx, reply) =>
    automatic(ctx, { ...query, machineInfo: machineInfoIn(ctx) }, reply),
  ),
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

/** The page that tells the user how the sign-in has ended. */
export const SIGNED_IN_PAGE = "/mdm/sso/done";

export const mdmSsoRoutes: readonly Route[] = [
  route(mdmSsoApi.start, async ({ query, body }, ctx, reply) => {
    const isAccount = body.initiator === "account_driven_enroll";
    const request = { token: query.token, machineInfo: machineInfoIn(ctx) };
    const started = isAccount ? await startAccount(ctx) : await startEndUser(ctx, request);
    if ("osVersion" in started) throw badRequest(`the device has to be updated to ${started.osVersion} first`);
    reply.headers["set-cookie"] = started.cookie;
    return { url: started.to };
  }),
  route(mdmSsoApi.callback, async ({ body }, ctx, reply) => {
    reply.status = 302;
    const other = await callbackOfOthers(ctx, body.SAMLResponse);
    if (other !== null) {
      const isDone = "to" in other;
      reply.headers.location = isDone ? other.to : failedPage(other.isExpired);
      reply.headers["set-cookie"] = isDone ? other.cookie : endedCookie;
      return { content: "" };
    }
    const outcome = await finishEndUser(ctx, body.SAMLResponse);
    reply.headers.location = placeOf(outcome);
    reply.headers["set-cookie"] = endedCookie;
    return { content: "" };
  }),
];

/** Devices of users open addresses with this scheme themselves. */
const DEVICE_RESULT = "apple-remotemanagement-user-login://authentication-results";

function failedPage(isExpired: boolean): string {
  const query = { error: "true", ...(isExpired ? { reason: "session_expired" } : {}) };
  return `${SIGNED_IN_PAGE}?${new URLSearchParams(query)}`;
}

function placeOf(outcome: EndUserOutcome): string {
  if (!("token" in outcome)) return failedPage(outcome.isExpired);
  if (outcome.isPersonal) return `${DEVICE_RESULT}?${new URLSearchParams({ "access-token": outcome.token })}`;
  const query = {
    enrollment_reference: outcome.reference,
    profile_token: outcome.token,
    ...(outcome.eulaToken === null ? {} : { eula_token: outcome.eulaToken }),
  };
  return `${SIGNED_IN_PAGE}?${new URLSearchParams(query)}`;
}

export const accountEnrollRoutes: readonly Route[] = [
  route(accountEnrollApi.discover, async (_, ctx) => ({ content: await serviceDiscovery(ctx) })),
  route(accountEnrollApi.enroll, async ({ body }, ctx, reply) => {
    const outcome = await accountProfile(ctx, Buffer.from(body.bytes));
    if ("profile" in outcome) return profile(outcome.profile);
    reply.status = 401;
    reply.headers["www-authenticate"] = outcome.signIn;
    return { type: "text/plain", content: "" };
  }),
];
