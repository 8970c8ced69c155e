// Pages on which users of Macs, iPhones and iPads enroll them in device management: with an enroll secret in the address,
// or from the page of a known host.

import { eulaApi } from "../../../../api/devices/eula.ts";
import { fullPath } from "../../../../api/paths.ts";
import { endUserProfile, startAccount, startEndUser } from "../../../devices/apple/enroll/end-users.ts";
import { profileForHost, profileForSecret, teamOfSecret } from "../../../devices/apple/enroll/manual.ts";
import { PROFILE_FILE, PROFILE_TYPE } from "../../../devices/apple/enroll/profile.ts";
import { machineInfoIn, updateFirst } from "../../../devices/apple/enroll/routes.ts";
import { requireAppleMdm } from "../../../devices/gate.ts";
import type { Context } from "../../../platform/core/context.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { hostOfOwner } from "../../device-page/owner.ts";
import { pageHeaders } from "../headers.ts";
import { type Html, html } from "../html.ts";
import { organization } from "../layout.ts";
import type { Answer, PageContent, Visit } from "../page.ts";
import { alert } from "../parts.ts";
import { afterSignIn } from "./device-sign-in.ts";

const SECRET_PARAM = "enroll_secret";

const secretOf = ({ url }: Visit): string => url.searchParams.get(SECRET_PARAM) ?? "";

export const enrollPage = (visit: Visit): Promise<Answer> =>
  explained(async () => {
    const { ctx } = visit;
    await requireAppleMdm(ctx);
    const secret = secretOf(visit);
    await teamOfSecret(ctx, secret);
    return steps(ctx, `/enroll/profile?${new URLSearchParams({ [SECRET_PARAM]: secret })}`);
  });

export const downloadProfile = (visit: Visit): Promise<Answer> =>
  explained(async () => file(await profileForSecret(visit.ctx, secretOf(visit))));

export const enrollDevicePage = (visit: Visit): Promise<Answer> =>
  afterSignIn(visit, async () => {
    const { ctx, params } = visit;
    const token = params.token ?? "";
    await hostOfOwner(ctx, token);
    return explained(async () => {
      await requireAppleMdm(ctx);
      return steps(ctx, `/device/${encodeURIComponent(token)}/enroll/profile`);
    });
  });

export async function downloadDeviceProfile({ ctx, params }: Visit): Promise<Answer> {
  const host = await hostOfOwner(ctx, params.token ?? "");
  return explained(async () => file(await profileForHost(ctx, host)));
}

/** The setup assistant opens this page on a device that enrolls automatically, and the user signs in. */
export async function endUserPage({ ctx, url, sendCookie }: Visit): Promise<Answer> {
  const token = url.searchParams.get("token") ?? "";
  const started = await startEndUser(ctx, { token, machineInfo: machineInfoIn(ctx) });
  if ("osVersion" in started) return updateFirst(started);
  sendCookie(started.cookie);
  return { to: started.to };
}

/** A user who enrolls their own device signs in. */
export async function accountPage({ ctx, sendCookie }: Visit): Promise<Answer> {
  const { to, cookie } = await startAccount(ctx);
  sendCookie(cookie);
  return { to };
}

export async function signedInPage({ url }: Visit): Promise<Answer> {
  const token = url.searchParams.get("profile_token");
  if (token === null) {
    const isExpired = url.searchParams.get("reason") === "session_expired";
    const text = isExpired ? "The sign-in took too long, or was used before." : "The sign-in was not accepted.";
    return {
      title: "You are not signed in",
      status: 403,
      shape: "narrow",
      body: html`<div class="card"><h1>You are not signed in</h1>${alert(text)}<p>Go back, and try again.</p></div>`,
    };
  }
  const profile = `/mdm/sso/profile?${new URLSearchParams({ profile_token: token })}`;
  const eula = url.searchParams.get("eula_token");
  if (eula !== null) return agreement(eula, profile);
  return {
    title: "You are signed in",
    shape: "narrow",
    moveTo: profile,
    body: html`<div class="card"><h1>You are signed in</h1><p><a class="button" href="${profile}">Continue</a></p></div>`,
  };
}

const agreement = (token: string, profile: string): PageContent => ({
  title: "License agreement",
  shape: "narrow",
  body: html`<div class="card"><h1>License agreement</h1>
<p>Your organization asks you to <a href="${fullPath(eulaApi.download).replace(":token", encodeURIComponent(token))}">read the license agreement</a> before you continue.</p>
<p><a class="button" href="${profile}">Agree and continue</a></p></div>`,
});

export const endUserDownload = async ({ ctx, url }: Visit): Promise<Answer> =>
  file(await endUserProfile(ctx, url.searchParams.get("profile_token") ?? ""));

/** Refusals in words for the user of the device, who did not type the address. */
async function explained(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 422)) throw error;
    const reason =
      error.status === 400
        ? "Your organization does not manage Apple devices with this server."
        : "This address is not complete, or no longer valid.";
    return {
      title: "Enrollment is not possible",
      status: error.status,
      shape: "narrow",
      body: html`<div class="card"><h1>Enrollment is not possible</h1>${alert(reason)}
<p>Ask your administrator for the current address of the enrollment page.</p></div>`,
    };
  }
}

async function steps(ctx: Context, profile: string): Promise<PageContent> {
  const { name } = await organization(ctx);
  const step = (title: string, id: string, lines: readonly Html[]) =>
    html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><ol>${lines.map((line) => html`<li>${line}</li>`)}</ol></section>`;
  return {
    title: "Enroll your device",
    shape: "narrow",
    body: html`<div class="card"><h1>Enroll your device</h1>
<p>With this profile, ${name} manages this Mac, iPhone or iPad. <a href="/transparency">What your organization can see</a></p>
<p><a class="button" href="${profile}">Download the profile</a></p>
<p class="small quiet">It can be installed once, on this device, within an hour. If the browser asks, allow the download.</p>
${step("On a Mac", "mac", [
  html`Open <b>System Settings</b> and click <b>Profile Downloaded</b>, or <b>General</b>, then <b>Device Management</b>.`,
  html`Double-click the profile, then click <b>Install</b> or <b>Enroll</b>.`,
  html`Enter the password of your Mac.`,
])}
${step("On an iPhone or iPad", "phone", [
  html`Open this page in Safari. When the download is complete, open the app <b>Settings</b>.`,
  html`Tap <b>Profile Downloaded</b>, then <b>Install</b>.`,
  html`Enter your passcode, tap <b>Install</b> again, then <b>Trust</b>.`,
])}</div>`,
  };
}

function file(profile: Buffer): Response {
  const headers = {
    ...pageHeaders(),
    "content-type": PROFILE_TYPE,
    "content-disposition": `attachment; filename="${PROFILE_FILE}"`,
  };
  return new Response(new Uint8Array(profile), { headers });
}
