import { hosts } from "../../../hosts/hosts/tables.ts";
import { isOpen } from "../../../hosts/operations/queue.ts";
import { operations } from "../../../hosts/operations/tables.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import { serviceContext } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { phonePlatforms } from "../../../platform/core/platforms.ts";
import { and, eq, exists, isNull, lte, not, oneOf, or } from "../../../platform/store/query.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { isReachable } from "../push/devices.ts";
import { appleDetails, detailCommands } from "./commands.ts";

/** Requests the details of iPhones and iPads as often as agents report those of other hosts. */
export const appleDetailsJob: Job = {
  name: "apple_details",
  every: minutes(1),
  async run(services, signal) {
    const { store, clock, config, settings } = services;
    if (!(await config.current()).mdm.enabled_and_configured) return;
    const isDue = or(
      eq("refetch_requested", true),
      isNull("detail_updated_at"),
      lte("detail_updated_at", isoAt(clock.now() - settings.detail_interval)),
    );
    const isAsked = exists(operations, "host_id", and(eq("kind", appleDetails.name), isOpen));
    const phones = exists(hosts, "id", and(oneOf("platform", phonePlatforms), isDue, not(isAsked)), "host_id");
    const due = await store.appleEnrollments.pick(["host_id", "kind"], { where: and(isReachable, phones) });
    const ctx = serviceContext(services);
    for await (const batch of parts(due)) {
      if (signal.aborted) return;
      const commands = batch.flatMap(({ host_id, kind }) => detailCommands(host_id, kind === "personal"));
      await store.tx((tx) => sendAppleCommands({ ...ctx, store: tx }, appleDetails, commands));
    }
  },
};
