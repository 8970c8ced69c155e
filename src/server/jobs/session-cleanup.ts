import { hours, isoAt } from "../core/clock.ts";
import { and, eq, exists, lt, not } from "../store/query.ts";
import { users } from "../users/tables.ts";
import type { Job } from "./job.ts";

/** Sessions that are over are refused anyway; here their rows go. Those of API-only users never end. */
export const sessionCleanup: Job = {
  name: "session_cleanup",
  every: hours(1),
  async run({ store, settings, clock }) {
    const endless = exists(users, "id", eq("api_only", true), "user_id");
    const cutoff = isoAt(clock.now() - settings.session_duration);
    await store.sessions.delete(and(lt("accessed_at", cutoff), not(endless)));
  },
};
