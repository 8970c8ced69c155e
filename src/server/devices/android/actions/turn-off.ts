// Turns device management of Android off.
import { androidApi } from "../../../../api/devices/android.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { upstreamFailed } from "../../../platform/core/errors.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { setReturned } from "../../../settings/app-config/service.ts";
import { endAllDevices } from "../commands/leave.ts";
import { removeEnterprise, requireEnterprise } from "../enterprise/enterprise.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";

export const androidTurnOffRoutes: readonly Route[] = [
  route(androidApi.delete, async (_, ctx) => {
    await deleteEnterprise(ctx);
    return {};
  }),
];

async function deleteEnterprise(ctx: Context): Promise<void> {
  const { name } = await requireEnterprise(ctx);
  try {
    await androidClient(ctx).deleteEnterprise(name);
  } catch (error) {
    // The enterprise was deleted at the vendor, or belongs to another service account now: nothing of it can be managed
    // here.
    const isLost = error instanceof AndroidError && (error.problem === "gone" || error.problem === "account");
    if (!isLost) throw error instanceof AndroidError ? upstreamFailed(error.message) : error;
  }
  await ctx.store.tx(
    async (tx) => {
      const inside = within(ctx, tx);
      if (!(await removeEnterprise(tx))) return;
      await endAllDevices(inside);
      await setReturned(inside, { mdm: { android_enabled_and_configured: false } });
      await recordActivity(inside, "disabled_android_mdm", {});
    },
    { lock: "config" },
  );
}
