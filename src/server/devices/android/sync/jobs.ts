// Reads at the vendor what messages may not have reported.

import { openOperations } from "../../../hosts/operations/queue.ts";
import { hours } from "../../../platform/core/clock.ts";
import { type Context, type Services, serviceContext } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { gt } from "../../../platform/store/query.ts";
import { answerLost, takeVendorOperation, VendorOperation } from "../commands/answers.ts";
import { endDevice } from "../commands/leave.ts";
import type { AndroidDeviceRow } from "../devices/enroll.ts";
import { AndroidDevice } from "../devices/report.ts";
import { ANDROID_LANE } from "../lane.ts";
import { accountOf } from "../management/account.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";
import { forgetMessages, takeDevice } from "./messages.ts";

const BATCH_SIZE = 100;

/** Reads every device and its commands at the vendor, in case that messages were lost, and forgets old messages. */
export const androidSync: Job = {
  name: "android_sync",
  every: hours(24),
  async run(services, signal) {
    const { store } = services;
    await forgetMessages(services);
    if (accountOf(services) === null) return;
    for (let last = 0; !signal.aborted; ) {
      const rows = await store.androidDevices.list({
        where: gt("id", last),
        order: [{ column: "id", direction: "asc" }],
        limit: BATCH_SIZE,
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

async function readDevice(services: Services, row: AndroidDeviceRow): Promise<void> {
  const ctx = serviceContext(services);
  try {
    const parsed = AndroidDevice.safeParse(await androidClient(services).device(row.name));
    if (parsed.success) await takeDevice(ctx, parsed.data);
    await readCommands(ctx, row);
  } catch (error) {
    if (!(error instanceof AndroidError)) throw error;
    if (error.problem === "gone") return endDevice(ctx, row);
    services.log.warn({ device: row.name, reason: error.message }, "an Android device could not be read at the vendor");
  }
}

async function readCommands(ctx: Context, { host_id }: AndroidDeviceRow): Promise<void> {
  const open = await openOperations(ctx.store, [host_id], ANDROID_LANE);
  for (const { id, name } of await ctx.store.androidCommands.getMany(open.map((operation) => operation.id))) {
    const raw = await androidClient(ctx)
      .operation(name)
      .catch((error: unknown) => {
        if (error instanceof AndroidError && error.problem === "gone") return null;
        throw error;
      });
    const parsed = VendorOperation.safeParse(raw);
    if (raw === null) await answerLost(ctx, host_id, id);
    else if (parsed.success && parsed.data.name === name) await takeVendorOperation(ctx, parsed.data, raw);
  }
}
