// Account-driven enrollment: a user enrolls their own iPhone or iPad, after they have signed in.
import { accountEnrollApi } from "../../../../api/devices/apple-enroll.ts";
import { minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest, mdmOff } from "../../../platform/core/errors.ts";
import { countCall } from "../../../platform/rate-limits/attempts.ts";
import { requireAppleMdm } from "../../gate.ts";
import { deviceUrl } from "../trust/service.ts";
import { personalProfile } from "./end-users.ts";
import { BadMachineInfo, readModel } from "./machine-info.ts";

/** Where the user signs in. */
export const ACCOUNT_PAGE = "/mdm/sso/account";

const CALLS = { scope: "account-driven enrollment", most: 120, ofAll: 3_000, span: minutes(1) };

/** Where devices of users enroll, in the form that they ask the organization's domain for. */
export async function serviceDiscovery(ctx: Context): Promise<string> {
  await requireAppleMdm(ctx);
  const BaseURL = await urlOf(ctx, accountEnrollApi.enroll.path);
  return JSON.stringify({ Servers: [{ Version: "mdm-byod", BaseURL }] });
}

/** The profile; or else the header that says where the user has to sign in. */
export async function accountProfile(
  ctx: Context,
  message: Buffer,
): Promise<{ readonly profile: Buffer } | { readonly signIn: string }> {
  await requireAppleMdm(ctx);
  await countCall(ctx, CALLS, ctx.address);
  const model = modelOf(ctx, message);
  if (!/^(iPhone|iPad)/.test(model)) throw badRequest("only iPhones and iPads enroll with an account");
  const [, token] = /^Bearer +(\S{1,512})$/i.exec(ctx.headers?.get("authorization") ?? "") ?? [];
  const profile = token === undefined ? null : await personalProfile(ctx, token);
  return profile ? { profile } : { signIn: `Bearer method="apple-as-web", url="${await urlOf(ctx, ACCOUNT_PAGE)}"` };
}

function modelOf(ctx: Context, message: Buffer): string {
  try {
    return readModel(ctx, message);
  } catch (error) {
    if (!(error instanceof BadMachineInfo)) throw error;
    throw badRequest("the device has to say, signed, what it is");
  }
}

async function urlOf(ctx: Context, path: string): Promise<string> {
  const url = await deviceUrl(ctx, path);
  if (url === null) throw mdmOff();
  return url;
}
