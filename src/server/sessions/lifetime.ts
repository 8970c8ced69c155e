// When sessions and tokens expire.
import { isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import type { Settings } from "../core/settings.ts";
import { and, eq, exists, gt, isNull, lte, not, or, type Predicate } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { users } from "../users/tables.ts";
import type { sessions } from "./tables.ts";

type Held = Pick<RowOf<typeof sessions>, "kind" | "created_at" | "accessed_at" | "expires_at">;

/** When the session or token expires if it is not used before, in milliseconds since 1970. Null: never. */
export function endOf(settings: Pick<Settings, "session_duration" | "session_max_age">, held: Held, apiOnly: boolean) {
  const ends = held.expires_at === null ? [] : [Date.parse(held.expires_at)];
  if (held.kind === "session" && !apiOnly)
    ends.push(
      Date.parse(held.accessed_at) + settings.session_duration,
      Date.parse(held.created_at) + settings.session_max_age,
    );
  return ends.length === 0 ? null : Math.min(...ends);
}

export function isOver({ settings, clock }: Pick<Services, "settings" | "clock">, held: Held, apiOnly: boolean) {
  const end = endOf(settings, held, apiOnly);
  return end !== null && clock.now() >= end;
}

/** Matches expired sessions and tokens. */
export function over({ settings, clock }: Pick<Services, "settings" | "clock">): Predicate {
  const now = clock.now();
  return or(
    lte("expires_at", clock.iso()),
    and(
      eq("kind", "session"),
      or(
        lte("accessed_at", isoAt(now - settings.session_duration)),
        lte("created_at", isoAt(now - settings.session_max_age)),
      ),
      not(exists(users, "id", eq("api_only", true), "user_id")),
    ),
  );
}

/** Matches valid tokens. */
export const liveToken = (clock: Services["clock"]): Predicate =>
  and(eq("kind", "token"), or(isNull("expires_at"), gt("expires_at", clock.iso())));
