// When sessions and tokens expire.
import type { Services } from "../../platform/core/context.ts";
import type { Settings } from "../../platform/core/settings/settings.ts";
import { and, eq, gt, isNull, or, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { sessions } from "./tables.ts";

type SessionTimes = Pick<RowOf<typeof sessions>, "kind" | "created_at" | "accessed_at" | "expires_at">;

/** When the session or token expires if it is not used before, in milliseconds since 1970. Null: never. */
export function endOf(
  settings: Pick<Settings, "session_duration" | "session_max_age">,
  existing: SessionTimes,
  apiOnly: boolean,
) {
  const ends = existing.expires_at === null ? [] : [Date.parse(existing.expires_at)];
  if (existing.kind === "session" && !apiOnly)
    ends.push(
      Date.parse(existing.accessed_at) + settings.session_duration,
      Date.parse(existing.created_at) + settings.session_max_age,
    );
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Whether this is an API token that nobody has used since it was created. */
export const isUnused = ({
  kind,
  created_at,
  accessed_at,
}: Pick<SessionTimes, "kind" | "created_at" | "accessed_at">) => kind === "token" && accessed_at === created_at;

export function isOver(
  { settings, clock }: Pick<Services, "settings" | "clock">,
  existing: SessionTimes,
  apiOnly: boolean,
) {
  const end = endOf(settings, existing, apiOnly);
  return end !== null && clock.now() >= end;
}

/** Matches valid tokens. */
export const liveToken = (clock: Services["clock"]): Predicate =>
  and(eq("kind", "token"), or(isNull("expires_at"), gt("expires_at", clock.iso())));
