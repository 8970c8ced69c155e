import { hostFor } from "../../../hosts/hosts/access.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { requireAppleMdm } from "../../gate.ts";
import { enrollmentsOfHosts } from "./devices.ts";
import { push } from "./push.ts";

/** Asks the host's device to connect. 422 for a host that this server does not manage. */
export async function pingHost(ctx: Context, id: number): Promise<void> {
  const host = await hostFor(ctx, "hosts:refetch", id);
  await requireAppleMdm(ctx);
  const enrollments = await enrollmentsOfHosts(ctx.store, [host.id]);
  if (enrollments.length === 0)
    throw invalid("id", "the host is not enrolled in device management as an Apple device, so it cannot be reached");
  await push(ctx, enrollments);
}
