import { noteContact } from "../../hosts/hosts/seen.ts";
import { setAgentSeen } from "../../hosts/managed-agents/rows.ts";
import { setDeviceToken } from "../../inventory/device-tokens/tokens.ts";
import { type Context, within } from "../../platform/core/context.ts";

/** Stores the token of the host's device page. Agents send one every hour, which shows that they still run. */
export async function storeDeviceToken(ctx: Context, hostId: number, token: string): Promise<void> {
  await ctx.store.tx(async (tx) => {
    await setDeviceToken(within(ctx, tx), hostId, token);
    await setAgentSeen(tx, hostId, ctx.clock.iso());
    await noteContact(tx, hostId, ctx.clock.iso());
  });
}
