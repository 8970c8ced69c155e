// Whether a message is really one of the vendor's topic: the push address has a secret, and each push a token that the
// vendor has signed.
import { androidServiceApi } from "../../../../api/devices/android.ts";
import type { Context } from "../../../platform/core/context.ts";
import { authenticationFailed, unavailable } from "../../../platform/core/errors.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { proved } from "../../../platform/core/http/strangers.ts";
import { KeysUnavailable, publishedKeys, readSigned } from "../../../platform/core/outbound/published-keys.ts";
import { sameText } from "../../../platform/core/random.ts";
import { requireAccount } from "../management/account.ts";

const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];

const keys = publishedKeys("keys of messages about Android devices");

/** 401 unless the message is the vendor's. */
export async function checkSender(ctx: Context, token: string): Promise<void> {
  const { android_pubsub_token: secret, google_jwks_url: url } = ctx.settings;
  const { email } = requireAccount(ctx);
  const authorization = ctx.headers?.get("authorization") ?? "";
  const jwt = /^Bearer ([\w.-]+)$/i.exec(authorization)?.[1];
  if (secret === undefined || !sameText(token, secret) || jwt === undefined) throw authenticationFailed();
  const audience = `${await serverUrl(ctx)}${androidServiceApi.message.path}`;
  const signed = await readSigned(ctx, keys, jwt, { url, audience, issuer: ISSUERS }).catch((error: unknown) => {
    if (error instanceof KeysUnavailable) throw unavailable("the keys of the message's sender could not be read");
    throw error;
  });
  if (signed?.email !== email || signed.email_verified !== true) throw authenticationFailed();
  proved(ctx);
}
