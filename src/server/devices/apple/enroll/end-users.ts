// Sign-in of a device's user during automatic enrollment: the setup assistant opens a page of this server, the identity
// provider confirms who it is, and only then the device gets its profile.
import { mdmSsoApi } from "../../../../api/devices/apple-enroll.ts";
import { providerAt, type ServiceProvider } from "../../../accounts/sso/addresses.ts";
import { countSsoStep } from "../../../accounts/sso/limits.ts";
import { personOf } from "../../../accounts/sso/person.ts";
import { sentCookie, ssoCookie } from "../../../accounts/sso/session.ts";
import { endUserProvider, requestSignIn } from "../../../accounts/sso/start.ts";
import { verifiedResponse } from "../../../accounts/sso/verify.ts";
import { setEndUser } from "../../../hosts/scim/links.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { badRequest, forbidden, premiumRequired } from "../../../platform/core/errors.ts";
import type { Job } from "../../../platform/core/job.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import { SsoRefusal } from "../../../platform/saml/refusal.ts";
import { and, eq, gt, lt, not, type Predicate } from "../../../platform/store/query.ts";
import { requireAppleMdm } from "../../gate.ts";
import { endUserFacts } from "../channel/end-user.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { eulaToken } from "../setup/eula.ts";
import { deviceUrl } from "../trust/service.ts";
import { type AutomaticRequest, assignedDevice, profileFor, type UpdateFirst } from "./automatic.ts";
import { enrollmentProfile } from "./profile.ts";

const LIFETIME = minutes(15);

async function here(ctx: Context, entityId: string): Promise<ServiceProvider | null> {
  const url = await deviceUrl(ctx, "");
  return url === null ? null : providerAt(url, mdmSsoApi.callback.path, entityId);
}

interface StartedSignIn {
  /** Where the browser is sent. */
  readonly to: string;
  readonly cookie: string;
}

/** The browser of the setup assistant of a device that enrolls automatically. */
export async function startEndUser(ctx: Context, request: AutomaticRequest): Promise<StartedSignIn | UpdateFirst> {
  await requireAppleMdm(ctx);
  const { info, osVersion } = await assignedDevice(ctx, request);
  return osVersion === null ? startSignIn(ctx, info) : { osVersion };
}

/** The browser of a user who enrolls their own device: which one it is, is not known. */
export async function startAccount(ctx: Context): Promise<StartedSignIn> {
  if (!isPremium(ctx)) throw premiumRequired();
  await requireAppleMdm(ctx);
  return startSignIn(ctx, { serial: "", udid: "" });
}

async function startSignIn(
  ctx: Context,
  device: { readonly serial: string; readonly udid: string },
): Promise<StartedSignIn> {
  await countSsoStep(ctx, "start", ctx.address);
  const settings = await endUserProvider(ctx);
  const { id, url } = await requestSignIn(ctx, settings, await here(ctx, settings.entity_id));
  const value = ctx.random.token(32);
  await ctx.store.endUserSignIns.insert({
    created_at: ctx.clock.iso(),
    cookie_hash: tokenHash(value),
    request_id: id,
    serial: device.serial,
    udid: device.udid,
    profile_hash: null,
  });
  return { to: url, cookie: ssoCookie(value, LIFETIME / 1000) };
}

export type EndUserOutcome =
  | {
      readonly reference: string;
      readonly token: string;
      readonly isPersonal: boolean;
      /** Token of the license agreement; null: there is none. */
      readonly eulaToken: string | null;
    }
  | { readonly isExpired: boolean };

/** Processes the response of the identity provider. Refusals are logged with their reason. */
export async function finishEndUser(ctx: Context, field: string): Promise<EndUserOutcome> {
  await requireAppleMdm(ctx);
  await countSsoStep(ctx, "callback", ctx.address);
  const row = await takeSignIn(ctx);
  if (!row) return { isExpired: true };
  const { mdm } = await ctx.config.current();
  const { end_user_authentication: provider } = mdm;
  try {
    const serviceProvider = await here(ctx, provider.entity_id);
    const { email, name } = personOf(
      await verifiedResponse(ctx, { provider, here: serviceProvider, requestId: row.request_id }, field),
    );
    const token = ctx.random.token(32);
    await ctx.store.endUserSignIns.update({
      where: eq("id", row.id),
      set: { email, name, profile_hash: tokenHash(token) },
    });
    const isPersonal = row.serial === "";
    return { reference: row.request_id, token, isPersonal, eulaToken: await eulaToken(ctx.store) };
  } catch (error) {
    if (!(error instanceof SsoRefusal)) throw error;
    ctx.log.warn({ reason: error.message, address: ctx.address }, "the sign-in of a device's user was refused");
    if (error.isMalformed) throw badRequest(error.message, "SAMLResponse");
    return { isExpired: false };
  }
}

/** Uses the sign-in of this browser up, whether it succeeds or not. */
async function takeSignIn({ store, clock, headers }: Context) {
  const cookie = sentCookie(headers?.get("cookie") ?? null);
  if (cookie === null) return null;
  const bySession = eq("cookie_hash", tokenHash(cookie));
  const where = and(bySession, eq("used", false), gt("created_at", isoAt(clock.now() - LIFETIME)));
  if ((await store.endUserSignIns.update({ where, set: { used: true } })) === 0) return null;
  return store.endUserSignIns.first({ where: bySession });
}

/** The profile of the device whose user has signed in. The token gives it once. */
export async function endUserProfile(ctx: Context, token: string): Promise<Buffer> {
  await requireAppleMdm(ctx);
  const row = await takeToken(ctx, token, not(eq("serial", "")));
  const device = row && (await ctx.store.portalDevices.first({ where: eq("serial", row.serial) }));
  if (!row || !device || device.deleted_at !== null) throw forbidden();
  return profileFor(ctx, {
    device,
    info: row,
    facts: { [endUserFacts.email]: row.email, [endUserFacts.name]: row.name },
  });
}

/** The profile for the own device of a user who has signed in; null: nobody has, with this token. */
export async function personalProfile(ctx: Context, token: string): Promise<Buffer | null> {
  const row = await takeToken(ctx, token, eq("serial", ""));
  if (!row) return null;
  const [abm] = await ctx.store.abmTokens.list({ limit: 1 });
  return enrollmentProfile(ctx, {
    team_id: abm?.byod_team_id ?? null,
    facts: { kind: "personal", [endUserFacts.email]: row.email },
    personal: row.email,
  });
}

async function takeToken({ store, clock }: Context, token: string, kind: Predicate) {
  const byProfile = and(eq("profile_hash", tokenHash(token)), gt("created_at", isoAt(clock.now() - LIFETIME)), kind);
  const row = await store.endUserSignIns.first({ where: byProfile });
  // The update decides: of two requests with the same token, one gets the profile.
  return row && (await store.endUserSignIns.update({ where: byProfile, set: { profile_hash: null } })) > 0 ? row : null;
}

/** The host gets the address of the user who has signed in. */
export const endUserListener: AppleDeviceListener = {
  async enrolled({ store }, { host_id }, { identity }) {
    const email = identity.facts[endUserFacts.email];
    if (typeof email === "string") await setEndUser(store, host_id, email);
  },
};

/** Deletes sign-ins that have ended. */
export const endUserCleanup: Job = {
  name: "end_user_sign_ins",
  every: minutes(5),
  async run({ store, clock }) {
    await store.endUserSignIns.delete(lt("created_at", isoAt(clock.now() - LIFETIME)));
  },
};
