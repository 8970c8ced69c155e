// The organization at the vendor. Without one, device management of Android is turned off.
import { recordActivity } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { notThere, upstreamFailed } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { everything } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { setReturned } from "../../../settings/app-config/service.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";
import type { androidEnterprises } from "./tables.ts";

/** The policy of devices that have just enrolled. */
export const DEFAULT_POLICY = "default";

type EnterpriseRow = RowOf<typeof androidEnterprises>;

declare module "../../../platform/core/extensions.ts" {
  interface Extensions {
    /** Each forgets something of Android devices, in the transaction that turns their management off. */
    readonly androidTurnedOff: readonly ((inside: Context) => Promise<void>)[];
  }
}

export const enterpriseRow = (store: ServerTx): Promise<EnterpriseRow | null> => store.androidEnterprises.first({});

/** 404 while device management of Android is turned off. */
export async function requireEnterprise({ store }: Pick<Context, "store">): Promise<EnterpriseRow> {
  const row = await enterpriseRow(store);
  if (!row) throw notThere("device management of Android is not turned on");
  return row;
}

export const enterpriseId = ({ name }: Pick<EnterpriseRow, "name">): string => name.replace(/^enterprises\//, "");

export async function deleteEnterprise(ctx: Context): Promise<void> {
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
      if ((await tx.androidEnterprises.delete(everything)) === 0) return;
      await tx.androidSignUps.delete(everything);
      for (const forget of ctx.extensions.androidTurnedOff) await forget(inside);
      await setReturned(inside, { mdm: { android_enabled_and_configured: false } });
      await recordActivity(inside, "disabled_android_mdm", {});
    },
    { lock: "config" },
  );
}
