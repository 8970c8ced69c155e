import { isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { and, eq, exists, lte, not, or, type Predicate } from "../store/query.ts";
import { users } from "../users/tables.ts";

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
