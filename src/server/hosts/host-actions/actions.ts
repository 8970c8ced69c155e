// Lock, unlock and wipe: authorization, preconditions and the request to the host.
import type { Approval } from "../../../api/hosts/approvals.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, conflict, invalid } from "../../platform/core/errors.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { spend } from "../approvals/budget.ts";
import { needsApproval, requestApproval } from "../approvals/request.ts";
import { type HostRow, hostFor } from "../hosts/access.ts";
import { checkSelection, expectedSelection } from "../hosts/selection.ts";
import { operationLock } from "../operations/queue.ts";
import { type ActionOptions, delivererFor, delivererOf, type HostAction } from "./deliverer.ts";
import { type LockState, lockStateOf } from "./states.ts";
import type { hostActions } from "./tables.ts";

type ActionReply = Pick<LockState, "device_status" | "pending_action"> & { unlock_pin?: string };

/** If the action needs approval by another user, only the approval request is created. */
export async function actOnHost(
  ctx: Context,
  id: number,
  action: HostAction,
  options: ActionOptions = {},
): Promise<ActionReply & { approval?: Approval }> {
  const expected = action === "unlock" ? {} : expectedSelection(ctx);
  const host = await hostFor(ctx, "hosts:lock", id);
  await checkSelection(expected, [id]);
  if (action !== "wipe" || !needsApproval(ctx, "wipe_host", 1)) return actNow(ctx, host, action, options);
  await checkPersonal(ctx, host, action);
  await delivererFor(ctx, host, action);
  const before = await ctx.store.hostActions.get(id);
  checkState(before, action);
  const { device_status, pending_action } = lockStateOf(before);
  const { wipeType } = options;
  const selection = { ids: [id], ...(wipeType && { wipe_type: wipeType }) };
  return { device_status, pending_action, approval: await requestApproval(ctx, "wipe_host", selection, [id]) };
}

/** Performs the action immediately, with approval already given if needed. Wipes are charged to the user's budget. */
export const actNow = (
  ctx: Context,
  host: HostRow,
  action: HostAction,
  options: ActionOptions = {},
): Promise<ActionReply> =>
  act(ctx, host, action, options, action === "wipe" ? (inside) => spend(inside, "wipe", 1) : undefined);

/** Performs the action on one of many hosts. Their wipes were charged together. */
export async function actAsOneOfMany(
  ctx: Context,
  id: number,
  action: HostAction,
  options: ActionOptions,
): Promise<void> {
  await act(ctx, await hostFor(ctx, "hosts:lock", id), action, options);
}

async function act(
  ctx: Context,
  host: HostRow,
  action: HostAction,
  options: ActionOptions,
  charge: (inside: Context) => Promise<void> = async () => {},
): Promise<ActionReply> {
  const { id } = host;
  const { viewPin = false } = options;
  await checkPersonal(ctx, host, action);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const deliverer = await delivererFor(inside, host, action);
    const before = await store.hostActions.get(id);
    checkState(before, action);
    await charge(inside);
    const { reference, pin } = await deliverer.deliver(inside, host, action, options);
    const requested = { id, pending: action, requested_at: ctx.clock.iso(), pin, failure: "" };
    const [after] =
      reference === null ? [before] : await store.hostActions.upsert([{ ...requested, reference }], { on: ["id"] });
    await record(inside, host, action, options);
    const { device_status, pending_action } = lockStateOf(after);
    // A dry run records nothing: it must not show what is recorded when it is read.
    const showsPin = (viewPin || action === "unlock") && pin !== null && ctx.dryRun === null;
    return { device_status, pending_action, ...(showsPin ? { unlock_pin: pin } : {}) };
  }, operationLock(id));
}

async function checkPersonal(ctx: Context, host: HostRow, action: HostAction): Promise<void> {
  if (!delivererOf(ctx, host, action)?.servesPersonal) await refusePersonal(ctx, host, action);
}

/** 400 for a device that belongs to its user. */
export async function refusePersonal({ store }: Context, host: HostRow, action: string): Promise<void> {
  const enrollment = await store.hostMdm.get(host.id);
  if (enrollment?.enrollment_status !== "On (personal)") return;
  const reason = `${host.display_name} is personally owned: ${action} is not for such hosts`;
  throw new ApiError(400, reason, [{ name: "base", reason }]);
}

function checkState(row: RowOf<typeof hostActions> | null, action: HostAction): void {
  if (row && row.pending !== "")
    throw invalid("host_id", `the host has a pending ${row.pending} request: wait for it, or cancel it`);
  if (row?.wiped && action !== "unlock") throw invalid("host_id", "the host was wiped");
  if (action === "lock" && row?.locked) throw conflict("the host is already locked");
  if (action === "unlock" && !row?.locked) throw conflict("the host is already unlocked");
}

async function record(
  ctx: Context,
  host: HostRow,
  action: HostAction,
  { viewPin = false, reason = "" }: ActionOptions,
): Promise<void> {
  const details = { host_id: host.id, host_display_name: host.display_name, ...(reason && { reason }) };
  const of = { hostId: host.id };
  if (action === "lock") await recordActivity(ctx, "locked_host", { ...details, view_pin: viewPin }, of);
  else if (action === "unlock")
    await recordActivity(ctx, "unlocked_host", { ...details, host_platform: host.platform }, of);
  else await recordActivity(ctx, "wiped_host", { ...details, host_platform: host.platform }, of);
}
