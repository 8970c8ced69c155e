import { days, hours, isoAt } from "../../../core/clock.ts";
import { type Services, serviceContext } from "../../../core/context.ts";
import type { Job } from "../../../core/job.ts";
import { gt, lt } from "../../../store/query.ts";
import { accountOf } from "../management/account.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";
import { endDevice } from "./enroll.ts";
import { takeDevice } from "./messages.ts";
import { AndroidDevice } from "./report.ts";

const STEP = 100;
/** For longer than the vendor repeats a message. */
const MESSAGES_KEPT = days(14);

/** Reads every device at the vendor, in case that messages were lost, and forgets old messages. */
export const androidSync: Job = {
  name: "android_sync",
  every: hours(24),
  async run(services, signal) {
    const { store, clock } = services;
    await store.androidMessages.delete(lt("received_at", isoAt(clock.now() - MESSAGES_KEPT)));
    if (accountOf(services) === null) return;
    for (let last = 0; !signal.aborted; ) {
      const rows = await store.androidDevices.list({
        where: gt("id", last),
        order: [{ column: "id", direction: "asc" }],
        limit: STEP,
      });
      if (rows.length === 0) return;
      for (const row of rows) {
        if (signal.aborted) return;
        await readDevice(services, row);
        last = row.id;
      }
    }
  },
};

async function readDevice(services: Services, row: Parameters<typeof endDevice>[1]): Promise<void> {
  const ctx = serviceContext(services);
  try {
    const found = AndroidDevice.safeParse(await androidClient(services).device(row.name));
    if (found.success) await takeDevice(ctx, found.data);
  } catch (error) {
    if (!(error instanceof AndroidError)) throw error;
    if (error.problem === "gone") return endDevice(ctx, row);
    services.log.warn({ device: row.name, reason: error.message }, "an Android device could not be read at the vendor");
  }
}
