import { hours } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { eq } from "../../platform/store/query.ts";
import { accountColumns, readLibrary, readListings, writeLibrary } from "./library.ts";
import { LicenseServiceError } from "./license-client.ts";
import { LookupError } from "./store-lookup.ts";
import type { VppTokenRow } from "./tables.ts";
import { clientOf } from "./tokens.ts";

/** Reads what each token licenses, and what the store says of it. */
export const vppSync: Job = {
  name: "vpp_sync",
  every: hours(1),
  async run(services, signal) {
    for (const token of await services.store.vppTokens.list()) {
      if (signal.aborted) return;
      await syncToken(services, token);
    }
  },
};

/** A failure concerns this token only: it is shown with it, and the next period tries again. */
async function syncToken(services: Services, token: VppTokenRow): Promise<void> {
  const { store, clock, log } = services;
  const client = clientOf(services, token);
  let problem: LicenseServiceError | LookupError | null = null;
  try {
    const account = await client.account();
    const assets = await readLibrary(client);
    await store.tx(async (tx) => {
      const set = { location: account.locationName, country_code: account.countryISO2ACode };
      // The token may have been deleted in the meantime.
      if ((await tx.vppTokens.update({ where: eq("id", token.id), set })) > 0) await writeLibrary(tx, token.id, assets);
    });
    const stored = await store.vppAssets.pick(["adam_id", "platforms"], { where: eq("token_id", token.id) });
    await readListings(services, stored, accountColumns(account));
  } catch (error) {
    if (!(error instanceof LicenseServiceError || error instanceof LookupError)) throw error;
    problem = error;
    log.warn({ token: token.id, problem: error.message }, "licenses were not synchronized");
  }
  const of = problem instanceof LicenseServiceError ? problem.problem : null;
  await store.vppTokens.update({
    where: eq("id", token.id),
    set: {
      synced_at: clock.iso(),
      sync_error: problem?.message ?? "",
      // Other failures leave open whether the terms are accepted and the token is valid.
      ...(of === null ? { terms_expired: false, token_invalid: false } : {}),
      ...(of === "terms" ? { terms_expired: true } : {}),
      ...(of === "token" ? { token_invalid: true } : {}),
    },
  });
}
