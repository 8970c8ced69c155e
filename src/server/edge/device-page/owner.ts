// Who may see and use the page of a host: whoever has its token, and has signed in if the organization requires it.

import { isSetupOpen } from "../../delivery/setup-experience/progress.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { hostOfToken } from "../../inventory/device-tokens/tokens.ts";
import { hours } from "../../platform/core/clock.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { deviceSsoRequired } from "../../platform/core/errors.ts";
import { hasDeviceSession } from "../device-sign-in/session.ts";

/** A host that does not finish its setup must not stay open forever. */
const SETUP_MAX = hours(24);

/** The host of a token. 401 if the token is not valid, or if nobody has signed in with this browser. */
export async function hostOfOwner(ctx: Context, token: string): Promise<HostRow> {
  const host = await hostOfToken(ctx, token);
  const { svc_desktop } = await ctx.config.current();
  if (!isPremium(ctx) || !svc_desktop.sso_enabled) return host;
  if ((await hasDeviceSession(ctx, host.id)) || (await isInSetup(ctx, host.id))) return host;
  throw deviceSsoRequired();
}

/** The page shows the progress of the setup, before its user can have signed in anywhere. */
async function isInSetup({ store, clock }: Context, hostId: number): Promise<boolean> {
  const setup = await store.hostSetups.get(hostId);
  return setup !== null && isSetupOpen(setup) && clock.now() - Date.parse(setup.created_at) < SETUP_MAX;
}
