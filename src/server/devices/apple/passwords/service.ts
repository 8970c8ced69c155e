// Users ask for other passwords of Macs.

import { hostFor } from "../../../hosts/hosts/access.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { conflict, invalid } from "../../../platform/core/errors.ts";
import { changeLock, toSet } from "../../host-passwords/rows.ts";
import { requireDevice } from "../actions/deliverer.ts";
import { changeAccountPassword } from "./managed-account.ts";
import { sendSteps } from "./recovery-lock.ts";

export async function rotateRecoveryLock(ctx: Context, id: number): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "hosts:lock", id);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await requireDevice(inside, host, "a recovery lock");
    const row = await store.recoveryLocks.get(id);
    if (!row || row.removing) throw invalid("id", `${host.display_name} has no recovery lock: turn it on for its team`);
    if (row.step !== null) throw conflict(`the recovery lock password of ${host.display_name} is being changed`);
    await changeLock(store, id, toSet);
    await sendSteps(inside, [id]);
  }, operationLock(id));
  return {};
}

export async function rotateManagedAccount(ctx: Context, id: number): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "hosts:lock", id);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await requireDevice(inside, host, "a managed account");
    const row = await store.managedAccounts.get(id);
    if (row?.step != null) throw conflict(`the managed account of ${host.display_name} is being changed`);
    if (row?.password == null) throw invalid("id", `this server has created no account on ${host.display_name}`);
    await changeAccountPassword(inside, id);
  }, operationLock(id));
  return {};
}
