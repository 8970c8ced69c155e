import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, lte, not, or, type Predicate } from "../../platform/store/query.ts";

type Deps = Pick<Services, "settings" | "clock"> & { readonly store: ServerTx };

/** Matches expired sessions and tokens. */
function expired({ store, settings, clock }: Deps): Predicate {
  const now = clock.now();
  return or(
    lte("expires_at", clock.iso()),
    and(
      eq("kind", "session"),
      or(
        lte("accessed_at", isoAt(now - settings.session_duration)),
        lte("created_at", isoAt(now - settings.session_max_age)),
      ),
      not(exists(store.users.table, "id", eq("api_only", true), "user_id")),
    ),
  );
}

/** Deletes the expired sessions and tokens among those that match. They are refused in any case. */
export async function deleteExpired(deps: Deps, among: Predicate = everything): Promise<void> {
  await deps.store.sessions.delete(and(among, expired(deps)));
}
