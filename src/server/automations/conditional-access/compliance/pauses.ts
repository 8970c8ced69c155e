// How the directory accepts reports. All servers wait as long as it asks one of them to.

import type { DirectoryError } from "../../../hosts/directory/problems.ts";
import { isoAt, minutes, seconds } from "../../../platform/core/clock.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { eq } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { directoryReporting } from "../tables.ts";

const ROW_NAME = "directory";
const FIRST_WAIT = seconds(30);
const MAX_WAIT = minutes(60);

export const reportingRow = (
  store: Pick<ServerTx, "directoryReporting">,
): Promise<RowOf<typeof directoryReporting> | null> => store.directoryReporting.first({ where: eq("name", ROW_NAME) });

/** Nothing is sent for as long as the directory asks; if it names no time, longer after each failure. */
export async function recordPause({ store, clock, log }: Services, error: DirectoryError): Promise<void> {
  const failures = ((await reportingRow(store))?.failures ?? 0) + 1;
  const backoff = Math.min(MAX_WAIT, FIRST_WAIT * 2 ** Math.min(failures - 1, 20));
  const wait = error.retryAfter === null ? backoff : Math.max(error.retryAfter, seconds(1));
  log.warn({ problem: error.message, seconds: wait / 1000 }, "the directory does not accept reports; trying again");
  const row = { name: ROW_NAME, paused_until: isoAt(clock.now() + wait), failures, last_error: error.message };
  await store.directoryReporting.upsert([row], {
    on: ["name"],
    set: ["paused_until", "failures", "last_error"],
    returning: [],
  });
}

export async function recordSuccess({ store, clock }: Services): Promise<void> {
  const row = { name: ROW_NAME, paused_until: null, failures: 0, last_error: "", last_reported_at: clock.iso() };
  await store.directoryReporting.upsert([row], { on: ["name"], returning: [] });
}

/** Other credentials, or another directory: what the last one has asked for does not concern it. */
export const endPause = async (store: Pick<ServerTx, "directoryReporting">): Promise<void> =>
  void (await store.directoryReporting.update({
    where: eq("name", ROW_NAME),
    set: { paused_until: null, failures: 0, last_error: "" },
  }));
