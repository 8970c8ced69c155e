// Rows of managed agents: written when they enroll, when they call, and when their host is taken over.

import { setDeviceToken } from "../../edge/device-page/tokens.ts";
import { noteContact } from "../../hosts/hosts/seen.ts";
import { type Context, within } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, everything, exists, isNull, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { managedAgents } from "./tables.ts";

/** Stores the token of the host's device page. Agents send one every hour, which shows that they still run. */
export async function keepDeviceToken(ctx: Context, hostId: number, token: string): Promise<void> {
  await ctx.store.tx(async (tx) => {
    await setDeviceToken(within(ctx, tx), hostId, token);
    await tx.managedAgents.update({ where: eq("id", hostId), set: { seen_at: ctx.clock.iso() } });
    await noteContact(tx, hostId, ctx.clock.iso());
  });
}

/** Deletes the agents' keys: the agents have to enroll again. */
export async function endAgentKeys(tx: ServerTx, hostIds: readonly number[]): Promise<void> {
  await tx.managedAgents.delete(oneOf("id", hostIds));
}

/** Hosts on which a query engine or a managed agent has enrolled. */
export const haveAgents: Predicate = or(not(isNull("node_key_hash")), exists(managedAgents, "id", everything));
