// The sign-in on the page of a device, before its user sees it.
import { deviceApi } from "../../../../api/edge/device.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { callWhole } from "../call.ts";
import { html } from "../html.ts";
import { organization } from "../layout.ts";
import type { Answer, PageContent, Visit } from "../page.ts";

/** Shows a page of a device. Whoever has to sign in first is asked to. */
export async function afterSignIn(visit: Visit, page: () => Promise<Answer>): Promise<Answer> {
  try {
    return await page();
  } catch (error) {
    if (error instanceof ApiError && error.isSsoRequired) return signInFirst(visit);
    throw error;
  }
}

async function signInFirst({ ctx, params, csrf }: Visit): Promise<PageContent> {
  const { name } = await organization(ctx);
  const path = `/device/${encodeURIComponent(params.token ?? "")}/sso`;
  return {
    title: "Sign in",
    status: 401,
    shape: "narrow",
    body: html`<div class="card"><h1>Sign in</h1>
<p>To see and manage this device, sign in with your account of ${name}.</p>
<form method="post" action="${path}">${csrf()}<button>Sign in</button></form></div>`,
  };
}

/** Forwards to the identity provider, with a page instead of a redirect, which `form-action` would have to allow. */
export async function startDeviceSso({ ctx, params, sendCookie }: Visit): Promise<Answer> {
  const token = params.token ?? "";
  const { value, reply } = await callWhole(ctx, deviceApi.signIn, { params: { token } });
  const cookie = reply.headers["set-cookie"];
  if (cookie !== undefined) sendCookie(cookie);
  if (!/^https?:\/\//i.test(value.url)) throw new Error("the identity provider's URL is not an http or https URL");
  return {
    title: "Sign in",
    shape: "narrow",
    moveTo: value.url,
    body: html`<div class="card"><h1>Continue to your identity provider</h1><p><a class="button" href="${value.url}">Continue</a></p></div>`,
  };
}
