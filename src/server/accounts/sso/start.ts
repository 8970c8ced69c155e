import type { SsoInfo } from "../../../api/accounts/sso.ts";
import type { MdmSettings } from "../../../api/settings/app-config.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, failed } from "../../platform/core/errors.ts";
import { MetadataProblem } from "../../platform/saml/metadata.ts";
import { redirectTo } from "../../platform/saml/request.ts";
import { relayProblem, type ServiceProvider, serviceProvider } from "./addresses.ts";
import { countSsoStep } from "./limits.ts";
import { identityProvider, type ProviderSettings } from "./metadata-source.ts";
import { beginSession } from "./session.ts";

export async function ssoInfo({ config }: Pick<Context, "config">): Promise<SsoInfo> {
  const { idp_name, idp_image_url, enable_sso } = (await config.current()).sso_settings;
  return { idp_name, idp_image_url, sso_enabled: enable_sso };
}

/** Starts a sign-in. Returns the URL to send the browser to, and the header that sets its cookie. */
export async function startSso(ctx: Context, relayUrl: string): Promise<{ url: string; cookie: string }> {
  const { sso_settings: sso } = await ctx.config.current();
  if (!sso.enable_sso) throw badRequest("single sign-on is not turned on");
  const problem = relayProblem(relayUrl);
  if (problem) throw badRequest(problem, "relay_url");
  await countSsoStep(ctx, "start", ctx.address);
  const { url, id } = await requestSignIn(ctx, sso, await serviceProvider(ctx, sso));
  return { url, cookie: await beginSession(ctx, { requestId: id, relayUrl }) };
}

/** The identity provider of the users of devices. 400 if none is set. */
export async function endUserProvider({
  config,
}: Pick<Context, "config">): Promise<MdmSettings["end_user_authentication"]> {
  const { end_user_authentication: settings } = (await config.current()).mdm;
  if (settings.metadata === "" && settings.metadata_url === "")
    throw badRequest("no identity provider is set for the users of devices");
  return settings;
}

/** A request to the identity provider: its id, and the URL to send the browser to. */
export async function requestSignIn(
  ctx: Context,
  settings: ProviderSettings,
  here: ServiceProvider | null,
): Promise<{ id: string; url: string }> {
  if (!here) throw failed("single sign-on: server_url is not set");
  const provider = await identityProvider(ctx, settings).catch((error: unknown) => {
    if (error instanceof MetadataProblem) throw failed(`single sign-on: ${error.message}`);
    throw error;
  });
  const id = `_${Buffer.from(ctx.random.token(20), "base64url").toString("hex")}`;
  const url = redirectTo({
    id,
    issued: ctx.clock.iso(),
    destination: provider.redirectUrl,
    acs: here.acs,
    entityId: here.entityId,
  });
  return { id, url };
}
