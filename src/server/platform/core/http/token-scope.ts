// Restrictions on API tokens, compared to their users, and on users who may only read.
import { isReadOnly } from "../../../../api/access.ts";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import { namesEndpoint } from "../../../../api/endpoint-patterns.ts";
import type { Viewer } from "../context.ts";
import { ApiError, forbidden, forbiddenFor } from "../errors.ts";

/** Whether the caller uses an API token instead of a session. */
export const isToken = ({ token_name }: Viewer): boolean => token_name !== "";

/** Everyone who is signed in may look up the user, and sign out. */
const always = ["GET /me", "POST /logout"];

export const tokenAllows = ({ token_endpoints }: Viewer, endpoint: AnyEndpoint): boolean =>
  token_endpoints === null || [...always, ...token_endpoints].some((pattern) => namesEndpoint(pattern, endpoint));

/** Throws 403 if the token is limited to other endpoints. */
export function checkTokenScope(user: Viewer, endpoint: AnyEndpoint): void {
  if (tokenAllows(user, endpoint)) return;
  const token_endpoints = user.token_endpoints ?? [];
  const listed = token_endpoints.slice(0, 5).join(", ") + (token_endpoints.length > 5 ? " ..." : "");
  const reason = `this API token may not call ${endpoint.method} ${endpoint.path}: it is limited to ${listed}`;
  throw new ApiError(403, "forbidden", [{ name: "base", reason }], { allowedEndpoints: token_endpoints });
}

/** Throws 403 for changes of one's own account if no role of the caller may change anything. */
export function checkReadOnly(user: Viewer, endpoint: AnyEndpoint): void {
  const { method } = endpoint;
  if (method === "GET" || method === "HEAD" || !isReadOnly(user)) return;
  if (!always.some((pattern) => namesEndpoint(pattern, endpoint))) throw forbidden();
}

/**
 * Sign-in settings may be changed, and tokens created or revoked, only after signing in: a leaked token must not
 * outlive its revocation.
 */
export const notByToken = () => forbiddenFor("an API token cannot do this: sign in with a password or single sign-on");
