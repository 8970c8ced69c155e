// A change is sent with a digest of the selection that was shown to the user. The server refuses it if the selection
// has changed since.
import type { Approval } from "../api/hosts/approvals.ts";
import { type Selection, selectionHeaders, selectionOf } from "../api/hosts/selection-digest.ts";
import { ApiCallError } from "../client/errors.ts";
import { plural } from "../text/plural.ts";
import { CliError } from "./errors.ts";

export const selectionOfHosts = (hosts: readonly { readonly id: number }[]): Promise<Selection> =>
  selectionOf(hosts.map(({ id }) => id));

/** Runs the call with the headers that identify the shown selection. */
export async function asShown<T>(
  shown: Selection,
  call: (options: { headers: Record<string, string> }) => Promise<T>,
): Promise<T> {
  const { count, digest } = shown;
  const headers = { [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest };
  try {
    return await call({ headers });
  } catch (error) {
    throw changed(error, count) ?? error;
  }
}

/** Converts the server's refusal of a changed selection to an error of the command line. */
function changed(error: unknown, then: number): CliError | null {
  if (!(error instanceof ApiCallError) || error.status !== 409) return null;
  const names: readonly string[] = Object.values(selectionHeaders);
  const mismatch = error.errors.find(({ name }) => names.includes(name));
  if (!mismatch) return null;
  const now = / found (\d+)/.exec(mismatch.reason)?.[1];
  const moved =
    now === undefined
      ? mismatch.reason
      : `${then} then, ${now} now${now === String(then) ? ", but different ones" : ""}`;
  return new CliError("conflict", `the selection changed: ${moved}; check it and run again`, "Nothing was changed.");
}

/** The equivalent of `needsApproval` in a dry run, which creates no approval request. */
export const wouldNeedApproval = (): CliError =>
  new CliError(
    "pending",
    "the real run needs the approval of another admin",
    "No approval was requested, because this was a dry run.",
  );

/** The error if another user must approve the action first; its exit code means pending. */
export const needsApproval = (approvals: readonly Pick<Approval, "id">[]): CliError => {
  const commands = approvals.slice(0, 10).map(({ id }) => `svc approvals approve ${id}`);
  const more = approvals.length > commands.length ? ` and ${approvals.length - commands.length} more` : "";
  const what = approvals.length === 1 ? "needs approval" : `${plural(approvals.length, "request")} need approval`;
  return new CliError(
    "pending",
    `${what}: ${commands.join(", ")}${more} by another admin`,
    "Nothing was done yet. `svc approvals list` shows the pending requests.",
  );
};
