// Lock, unlock and wipe: authorization, preconditions and the request to the host.
import type { Approval } from "../../../api/hosts/approvals.ts";
import { recordActivities } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, conflict, invalid } from "../../platform/core/errors.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { spend } from "../approvals/budget.ts";
import { needsApproval, requestApproval } from "../approvals/request.ts";
import { type HostRow, hostFor } from "../hosts/access.ts";
import { checkSelection, expectedSelection } from "../hosts/selection.ts";
import { operationLock } from "../operations/queue.ts";
import { type ActionOptions, type Delivery, delivererOf, type HostAction, type Refusals } from "./deliverer.ts";
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
  await admit(ctx, host, action);
  const { device_status, pending_action } = lockStateOf(await ctx.store.hostActions.get(id));
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

async function act(
  ctx: Context,
  host: HostRow,
  action: HostAction,
  options: ActionOptions,
  charge: (inside: Context) => Promise<void> = async () => {},
): Promise<ActionReply> {
  const { viewPin = false } = options;
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await admit(inside, host, action);
    await charge(inside);
    const [delivery] = await actOnAdmitted(inside, [host], action, options);
    const { device_status, pending_action } = lockStateOf(await store.hostActions.get(host.id));
    const pin = delivery?.pin ?? null;
    // A dry run records nothing: it must not show what is recorded when it is read.
    const showsPin = (viewPin || action === "unlock") && pin !== null && ctx.dryRun === null;
    return { device_status, pending_action, ...(showsPin ? { unlock_pin: pin } : {}) };
  }, operationLock(host.id));
}

async function admit(ctx: Context, host: HostRow, action: HostAction): Promise<void> {
  const refusal = (await actionRefusals(ctx, [host], action)).get(host.id);
  if (refusal) throw refusal;
}

/** Why the action cannot be done now on some of the hosts. */
export async function actionRefusals(ctx: Context, hosts: readonly HostRow[], action: HostAction): Promise<Refusals> {
  const undelivered = new Map<number, ApiError>();
  for (const [deliverer, served] of groupBy(hosts, (host) => delivererOf(ctx, host, action))) {
    const refusals = deliverer ? await deliverer.refusals(ctx, served, action) : unsupported(served, action);
    for (const [id, refusal] of refusals) undelivered.set(id, refusal);
  }
  const personal = await personalHosts(
    ctx,
    hosts.filter((host) => !delivererOf(ctx, host, action)?.servesPersonal),
  );
  const states = byId(await ctx.store.hostActions.getMany(hosts.map(({ id }) => id)));
  const refusals = new Map<number, ApiError>();
  for (const host of hosts) {
    const refusal = personal.has(host.id)
      ? personalRefusal(host, action)
      : (undelivered.get(host.id) ?? stateRefusal(states.get(host.id), action));
    if (refusal) refusals.set(host.id, refusal);
  }
  return refusals;
}

const unsupported = (hosts: readonly HostRow[], action: HostAction): Refusals =>
  new Map(
    hosts.map(({ id, platform }) => [
      id,
      invalid("host_id", `${action} is not supported on the platform '${platform}'`),
    ]),
  );

/**
 * Performs the action on hosts for which `actionRefusals` has no refusal, in the caller's transaction, under the locks of
 * their operations. Returns the deliveries in the order of the hosts.
 */
export async function actOnAdmitted(
  inside: Context,
  hosts: readonly HostRow[],
  action: HostAction,
  options: ActionOptions,
): Promise<readonly Delivery[]> {
  const deliveries = new Map<number, Delivery>();
  for (const [deliverer, served] of groupBy(hosts, (host) => delivererOf(inside, host, action))) {
    const delivered = (await deliverer?.deliver(inside, served, action, options)) ?? [];
    served.forEach(({ id }, i) => void deliveries.set(id, delivered[i]!));
  }
  const requested = [...deliveries].flatMap(([id, { reference, pin }]) =>
    reference === null ? [] : { id, pending: action, requested_at: inside.clock.iso(), pin, failure: "", reference },
  );
  if (requested.length > 0) await inside.store.hostActions.upsert(requested, { on: ["id"], returning: [] });
  await record(inside, hosts, action, options);
  return hosts.map(({ id }) => deliveries.get(id)!);
}

/** 400 for a device that belongs to its user. */
export async function refusePersonal(ctx: Context, host: HostRow, action: string): Promise<void> {
  if ((await personalHosts(ctx, [host])).has(host.id)) throw personalRefusal(host, action);
}

/** The ids of those of the hosts that belong to their users. */
async function personalHosts({ store }: Context, hosts: readonly HostRow[]): Promise<ReadonlySet<number>> {
  const ids = hosts.map(({ id }) => id);
  const where = and(oneOf("id", ids), eq("enrollment_status", "On (personal)"));
  return new Set((await store.hostMdm.pick(["id"], { where })).map(({ id }) => id));
}

function personalRefusal({ display_name }: HostRow, action: string): ApiError {
  const reason = `${display_name} is personally owned: ${action} is not for such hosts`;
  return new ApiError(400, reason, [{ name: "base", reason }]);
}

function stateRefusal(row: RowOf<typeof hostActions> | undefined, action: HostAction): ApiError | null {
  if (row && row.pending !== "")
    return invalid("host_id", `the host has a pending ${row.pending} request: wait for it, or cancel it`);
  if (row?.wiped && action !== "unlock") return invalid("host_id", "the host was wiped");
  if (action === "lock" && row?.locked) return conflict("the host is already locked");
  if (action === "unlock" && !row?.locked) return conflict("the host is already unlocked");
  return null;
}

async function record(
  ctx: Context,
  hosts: readonly HostRow[],
  action: HostAction,
  { viewPin = false, reason = "" }: ActionOptions,
): Promise<void> {
  const marks = { hostIds: hosts.map(({ id }) => id) };
  const detailsOf = ({ id, display_name }: HostRow) => ({
    host_id: id,
    host_display_name: display_name,
    ...(reason && { reason }),
  });
  if (action === "lock") {
    const entries = hosts.map((host) => ({ ...detailsOf(host), view_pin: viewPin }));
    await recordActivities(ctx, "locked_host", entries, marks);
    return;
  }
  const entries = hosts.map((host) => ({ ...detailsOf(host), host_platform: host.platform }));
  await recordActivities(ctx, action === "unlock" ? "unlocked_host" : "wiped_host", entries, marks);
}
