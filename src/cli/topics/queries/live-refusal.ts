// The refusal of live queries while they are turned off.
import { ApiCallError } from "../../../client/errors.ts";
import { CliError } from "../../errors.ts";

/** The server gives no reason for this 403, as it does if a role does not suffice. Other errors stay as they are. */
export function explainRefusal<E>(error: E): E | CliError {
  if (!(error instanceof ApiCallError) || error.status !== 403 || error.errors.length > 0) return error;
  return new CliError(
    "denied",
    error.message,
    "Live queries may be turned off: see `svc config get server_settings.live_query_disabled`.",
    [],
    error.requestId,
  );
}
