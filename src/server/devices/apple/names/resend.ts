import { hostFor } from "../../../hosts/hosts/access.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { conflict, notThere } from "../../../platform/core/errors.ts";
import { requireAppleMdm } from "../../gate.ts";
import { changeName } from "../../host-names/rows.ts";
import { nameHosts } from "./keep.ts";

export async function resendName(ctx: Context, id: number): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "profiles:resend", id);
  await requireAppleMdm(ctx);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const row = await store.hostNames.get(id);
    if (!row) throw notThere(`${host.display_name} is not named by a template: nothing can be sent again`);
    if (row.status === "pending" || row.status === "verifying")
      throw conflict(
        `${host.display_name} is being sent its name: it can be sent again when it is verified or has failed`,
      );
    // Without a digest, the name is made and sent as if there had been none.
    await changeName(store, id, { digest: "" });
    await nameHosts(inside, [id]);
  }, operationLock(id));
  return {};
}
