import { isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { lt } from "../../platform/store/query.ts";
import { SSO_SECONDS } from "./session.ts";

/** Deletes unfinished sign-ins, and assertions that have expired in the meantime. */
export const ssoCleanup: Job = {
  name: "sso_cleanup",
  every: minutes(5),
  async run({ store, clock }) {
    const now = clock.now();
    await store.ssoSessions.delete(lt("created_at", isoAt(now - seconds(SSO_SECONDS))));
    await store.ssoAssertions.delete(lt("expires_at", isoAt(now)));
  },
};
