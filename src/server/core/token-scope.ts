// What API tokens may not do that their users may.
import type { AnyEndpoint } from "../../api/endpoint.ts";
import { namesEndpoint } from "../../api/endpoint-patterns.ts";
import type { Viewer } from "./context.ts";
import { ApiError } from "./errors.ts";

/** Whether an API token calls, and not a session. */
export const isToken = ({ token_name }: Viewer): boolean => token_name !== "";

/** Whoever holds a token may see whose it is, and give it up. */
const always = ["GET /me", "POST /logout"];

export const tokenAllows = ({ token_endpoints }: Viewer, endpoint: AnyEndpoint): boolean =>
  token_endpoints === null || [...always, ...token_endpoints].some((pattern) => namesEndpoint(pattern, endpoint));

/** 403 where the token that calls is limited to other endpoints. */
export function checkTokenScope(user: Viewer, endpoint: AnyEndpoint): void {
  if (tokenAllows(user, endpoint)) return;
  const token_endpoints = user.token_endpoints ?? [];
  const told = token_endpoints.slice(0, 5).join(", ") + (token_endpoints.length > 5 ? " ..." : "");
  throw refused(`this API token may not call ${endpoint.method} ${endpoint.path}: it is limited to ${told}`);
}

/** How one signs in is changed, and tokens are made and ended, by who signed in: a token that leaks must not outlive its end. */
export const notByToken = () => refused("an API token cannot do this: sign in");

const refused = (reason: string) => new ApiError(403, "forbidden", [{ name: "base", reason }]);
