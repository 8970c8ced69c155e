// Checks that the hosts a call selects are the hosts that its caller has seen.
import { SelectionHeaders } from "../../../api/hosts/selection.ts";
import { type Selection, selectionHeaders, selectionOf } from "../../../api/hosts/selection-digest.ts";
import { plural } from "../../../text/plural.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, preconditionRequired, selectionMoved } from "../../platform/core/errors.ts";

export type ExpectedSelection = Partial<Selection>;

/** The selection that the caller claims to have seen. Empty if the caller sends none and is not required to. */
export function expectedSelection({ headers, settings, user }: Context): ExpectedSelection {
  const header = (name: string) => headers?.get(name) ?? undefined;
  const { count: countHeader, digest: digestHeader } = selectionHeaders;
  const texts: Record<string, string | undefined> = {
    [countHeader]: header(countHeader)?.trim(),
    [digestHeader]: header(digestHeader)?.trim(),
  };
  const parsed = SelectionHeaders.safeParse(texts);
  if (!parsed.success) {
    const name = String(parsed.error.issues[0]?.path[0] ?? countHeader);
    throw badRequest(`Invalid ${name}: ${(texts[name] ?? "").slice(0, 200)}`, name);
  }
  if (settings.require_expected_count && user.kind === "user")
    for (const name of [countHeader, digestHeader]) if (texts[name] === undefined) throw preconditionRequired(name);
  const [count, digest] = [texts[countHeader], texts[digestHeader]];
  return {
    ...(count === undefined ? {} : { count: Number(count) }),
    ...(digest === undefined ? {} : { digest: digest.toLowerCase() }),
  };
}

export const isGiven = ({ count, digest }: ExpectedSelection): boolean => count !== undefined || digest !== undefined;

/** 409 unless the selected hosts, or other things of this noun, are the expected ones. */
export async function checkSelection(
  expected: ExpectedSelection,
  ids: readonly number[],
  noun: "host" | "operation" = "host",
): Promise<void> {
  const { count, digest } = expected;
  if (count !== undefined && count !== ids.length)
    throw selectionMoved(selectionHeaders.count, plural(count, noun), String(ids.length));
  if (digest === undefined) return;
  const current = await selectionOf(ids);
  if (current.digest === digest) return;
  const expectedText = count === undefined ? `the ${noun}s with digest ${digest}` : plural(count, noun);
  throw selectionMoved(selectionHeaders.digest, expectedText, `${current.count} that are not the same`);
}
