import type { Context } from "../../platform/core/context.ts";
import { permissionDenied } from "../../platform/core/errors.ts";
import { isForwarded, isLoopback } from "../../platform/core/http/proxies.ts";
import { sameText } from "../../platform/core/random.ts";

/**
 * Whether the caller has to prove, with the set-up token, that the server is theirs. A call from this machine may come through
 * a local proxy that is not configured as one.
 */
export function needsSetupToken({ address, headers }: Pick<Context, "address" | "headers">): boolean {
  // A call without a socket has no address.
  return (address !== "" && !isLoopback(address)) || (headers !== undefined && isForwarded(headers));
}

export function checkSetupCaller(ctx: Context, inBody: string | undefined): void {
  if (!needsSetupToken(ctx)) return;
  const token = inBody ?? ctx.headers?.get("x-svc-setup-token");
  if (!token || !sameText(token, ctx.setupToken)) throw permissionDenied();
}
