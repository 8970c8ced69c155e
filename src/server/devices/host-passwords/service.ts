// Users read passwords of hosts. Each reading is recorded.

import { hostFor } from "../../hosts/hosts/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";

export async function recoveryLockPasswordOf(ctx: Context, id: number) {
  const { host, ...read } = await reading(ctx, id, {
    what: "recovery lock password of host",
    type: "viewed_host_recovery_lock_password",
    row: (store) => store.recoveryLocks.get(id),
  });
  return { host_id: host.id, recovery_lock_password: read };
}

export async function managedAccountPasswordOf(ctx: Context, id: number) {
  const { host, ...read } = await reading(ctx, id, {
    what: "managed account password of host",
    type: "read_managed_local_account",
    row: (store) => store.managedAccounts.get(id),
  });
  return { host_id: host.id, managed_account_password: read };
}

interface Reading {
  readonly what: string;
  readonly type: "viewed_host_recovery_lock_password" | "read_managed_local_account";
  readonly row: (
    store: Context["store"],
  ) => Promise<{ readonly password: string | null; readonly updated_at: string | null } | null>;
}

/** Only a password that the Mac has confirmed. */
async function reading(ctx: Context, id: number, { what, type, row: rowOf }: Reading) {
  const host = await hostFor(ctx, "hosts:read_passwords", id);
  return ctx.store.tx(async (store) => {
    const row = await rowOf(store);
    if (row?.password == null || row.updated_at === null) throw notFound(what, id);
    const details = { host_id: host.id, host_display_name: host.display_name };
    await recordActivity(within(ctx, store), type, details, { hostId: host.id });
    return { host, password: row.password, updated_at: row.updated_at };
  });
}
