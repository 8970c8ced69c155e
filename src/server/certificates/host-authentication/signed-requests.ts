// Requests that hosts sign instead of sending a token, for endpoints that accept each of them once.
import { readSignature } from "../../../pki/http-signature.ts";
import { isoAt, minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { authenticationRequired } from "../../platform/core/errors.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { countCall } from "../../platform/rate-limits/attempts.ts";
import { eq, lt } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { signer, TOLERANCE } from "./identity.ts";

/** A whole office may send from one address. */
const CALL_LIMIT = { scope: "signed requests", most: 300, ofAll: 3_000, span: minutes(1) };

interface SigningHost {
  readonly id: number;
  readonly team_id: number | null;
}

/**
 * The host whose identity has signed the request. Null: it is not signed. 401 for a wrong signature (`signer`), for an
 * identity that no host has used, and for a request that was accepted before, by whichever server.
 */
export async function signingHost(ctx: Context): Promise<SigningHost | null> {
  if (!ctx.headers || ctx.headers.get("signature-input") === null) return null;
  await countCall(ctx, CALL_LIMIT, ctx.address);
  const identity = await signer(ctx);
  if (identity === null || identity.host_id === null) throw authenticationRequired();
  const [host] = await ctx.store.hosts.pick(["id", "team_id"], { where: eq("id", identity.host_id) });
  if (!host) throw authenticationRequired();
  await useOnce(ctx);
  return host;
}

/** What is signed decides, not the signature: of elliptic keys, a second valid one can be made of the first. */
async function useOnce({ store, headers, requested, clock }: Context): Promise<void> {
  const { params = "" } = readSignature({ header: (name) => headers!.get(name) }) ?? {};
  const { method, path, query } = requested!;
  const digest = tokenHash([method, path, query, headers!.get("content-digest")?.trim(), params].join("\n"));
  await store.usedSignatures.delete(lt("expires_at", clock.iso()));
  try {
    await store.usedSignatures.insert({ digest, expires_at: isoAt(clock.now() + 2 * TOLERANCE + minutes(1)) });
  } catch (error) {
    if (error instanceof UniqueViolation) throw authenticationRequired();
    throw error;
  }
}
