// Installations of store apps: asked for, cancelled, and ended. Each is an operation in a lane of its own.

import { devicesOfHosts } from "../../devices/apple/channel/devices.ts";
import { commandOf } from "../../devices/commands/rows.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { inScope, labelsOfHosts } from "../../hosts/labels/scope.ts";
import { scopeOf } from "../../hosts/labels/targeting.ts";
import type {
  CancelCandidate,
  Inside,
  Lane,
  OperationHost,
  OperationKind,
  OperationView,
} from "../../hosts/operations/kind.ts";
import { addOperations, endOperation } from "../../hosts/operations/queue.ts";
import { requesterOf } from "../../hosts/operations/requester.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { recordRuns } from "../../platform/policy-runs/record.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import { setInstallStatus, setInstallStatuses } from "../../software/software/install-status.ts";
import type { InstallStatus } from "../../software/software/tables.ts";
import { labelsOfApps } from "./labels.ts";
import { licenseOf, releaseLicenses } from "./licenses.ts";
import type { InstallRow, StoreAppRow } from "./tables.ts";

/** The server itself does what is in this lane (`worker.ts`). */
export const STORE_LANE: Lane = "store-apps";

/** Why the installation has failed; empty: it has not. */
export interface InstallResult {
  readonly detail: string;
}

export const installStatuses: Readonly<Record<InstallRow["status"], InstallStatus>> = {
  pending: "pending_install",
  installed: "installed",
  failed: "failed_install",
};

const view: OperationView = {
  async upcoming(store, host, operations) {
    const ids = operations.map(({ id }) => id);
    const rows = byId(await store.storeAppInstalls.getMany(ids));
    const names = { host_id: host.id, host_display_name: host.display_name };
    const details = await Promise.all(
      ids.map((id) => {
        const row = rows.get(id);
        // The row of a cancelled installation is gone.
        return row ? detailsOf(store, host, row, "pending") : { ...names, software_title: "" };
      }),
    );
    return details.map((each) => ({ type: "installed_app_store_app", details: { ...each } }));
  },
  refusals: (inside, operations) => appRefusals(inside, operations),
  async cancel(inside, host, operation) {
    const row = (await inside.store.storeAppInstalls.get(operation.id))!;
    const { software_title } = await detailsOf(inside.store, host, row);
    await cancelCommand(inside, row);
    await endOperation(inside, operation, { state: "cancelled", result: null });
    return {
      type: "canceled_install_app_store_app",
      details: {
        host_id: host.id,
        host_display_name: host.display_name,
        software_title,
        software_title_id: row.title_id,
      },
    };
  },
};

/** Why each of the installations cannot be cancelled; null: the device has not begun. */
export async function appRefusals(
  { store }: Pick<Inside, "store">,
  operations: readonly CancelCandidate[],
): Promise<readonly (string | null)[]> {
  const rows = byId(await store.storeAppInstalls.getMany(operations.map(({ id }) => id)));
  return Promise.all(
    operations.map(async ({ id }) => {
      const row = rows.get(id);
      if (row?.step === "verify") return "the device is installing the app";
      const command = row ? await commandOperation(store, row) : null;
      return command !== null && command.attempts > 0 ? "the device has been asked to install the app" : null;
    }),
  );
}

/** Takes back the command for an installation that can be cancelled. */
export async function cancelCommand(inside: Context, row: InstallRow): Promise<void> {
  const operation = await commandOperation(inside.store, row);
  if (operation) await endOperation(inside, operation, { state: "cancelled", result: null });
}

/** The operation of the command that asks the device to install the app; null: it was not asked yet. */
async function commandOperation(store: ServerTx, row: InstallRow) {
  const command = row.step === "command" ? await commandOf(store, row.host_id, row.command_uuid) : null;
  return command && store.operations.get(command.id);
}

export const storeAppInstall: OperationKind<InstallResult> = {
  name: "store_app",
  lane: STORE_LANE,
  priority: 10,
  attempts: 1,
  title: "store app",
  isCancellableOnceSent: false,
  expires: false,
  view,
  isDone: ({ detail }) => detail === "",
  async ended(inside, operation, { state, result }) {
    const { store, clock } = inside;
    const row = await store.storeAppInstalls.get(operation.id);
    if (!row) return;
    const status = state === "answered" ? "installed" : "failed";
    if (state === "cancelled") await store.storeAppInstalls.delete(eq("id", row.id));
    else
      await store.storeAppInstalls.update({
        where: eq("id", row.id),
        set: { status, detail: result?.detail ?? "", ended_at: clock.iso(), due_at: null },
      });
    await refreshStatus(store, row);
    if (state !== "answered") await releaseUnlessInstalled(inside, row);
    if (state === "cancelled") return;
    const host = (await store.hosts.get(row.host_id))!;
    const actor = await requesterOf(inside, operation);
    const details = await detailsOf(store, host, row, status === "installed" ? "installed" : "failed_install");
    const activityId = await recordActivity(actor, "installed_app_store_app", details, { hostId: host.id });
    if (row.policy_id === null) return;
    const isSuccess = status === "installed";
    await recordRuns(inside, { policyId: row.policy_id, hostIds: [host.id], activityId, isSuccess });
  },
};

/** A host that has the app from an earlier installation keeps its license. */
async function releaseUnlessInstalled(inside: Pick<Inside, "store" | "clock">, row: InstallRow): Promise<void> {
  const { host_id, adam_id } = row;
  const other = and(eq("host_id", host_id), eq("adam_id", adam_id), not(eq("id", row.id)), not(eq("status", "failed")));
  if ((await inside.store.storeAppInstalls.first({ where: other })) === null)
    await releaseLicenses(inside, licenseOf(host_id, adam_id));
}

/** Sets the state of the title on the host to that of its last installation. */
async function refreshStatus(store: ServerTx, { host_id, title_id }: InstallRow): Promise<void> {
  const last = await store.storeAppInstalls.first({
    where: and(eq("host_id", host_id), eq("title_id", title_id)),
    order: [{ column: "id", direction: "desc" }],
  });
  await setInstallStatus(
    store,
    { host_id, title_id },
    last && { status: installStatuses[last.status], installer_id: null },
  );
}

/** For the activity feed. */
async function detailsOf(
  store: ServerTx,
  host: Pick<OperationHost, "id" | "display_name">,
  row: InstallRow,
  status = "",
) {
  const title = await store.softwareTitles.get(row.title_id);
  const policy = row.policy_id === null ? null : await store.policies.get(row.policy_id);
  return {
    host_id: host.id,
    host_display_name: host.display_name,
    software_title: title?.name ?? "",
    app_store_id: row.adam_id,
    command_uuid: row.command_uuid,
    ...(status === "" ? {} : { status }),
    self_service: row.self_service,
    policy_id: row.policy_id,
    policy_name: policy?.name ?? null,
  };
}

interface InstallRequest {
  readonly selfService?: boolean;
  readonly policyId?: number | null;
}

/** Why the host cannot get the app; null: it can. */
export const refusalOf = async (store: ServerTx, host: HostRow, app: StoreAppRow): Promise<string | null> =>
  (await storeAppRefusals(store, [host], app)).get(host.id) ?? null;

/** Why hosts cannot get the app, by their ids. Those that can are not in the map. */
export async function storeAppRefusals(
  store: ServerTx,
  hosts: readonly HostRow[],
  app: StoreAppRow,
): Promise<Map<number, string>> {
  const scope = scopeOf((await labelsOfApps(store, [app.id])).get(app.id) ?? []);
  const hostIds = hosts.map(({ id }) => id);
  const members = await labelsOfHosts(store, hostIds, Object.values(scope).flat());
  const devices = new Map((await devicesOfHosts(store, hostIds)).map(({ host_id, kind }) => [host_id, kind]));
  const reasonOf = (host: HostRow): string | null => {
    if (host.platform !== app.platform) return `the app is not for the platform of ${host.display_name}`;
    if ((host.team_id ?? null) !== app.team_id) return `the team of ${host.display_name} does not offer the app`;
    // A host that has not reported its labels yet may have one that excludes it.
    const isKnown = scope.exclude_any.length === 0 || host.label_updated_at !== null;
    if (!isKnown || !inScope(members.get(host.id) ?? new Set(), scope))
      return `the app is not offered to hosts with the labels of ${host.display_name}`;
    if (app.platform === "android") return `users of ${host.display_name} install the app from the managed Play store`;
    const kind = devices.get(host.id);
    if (kind === undefined) return `${host.display_name} is not managed by this server`;
    // Licenses are assigned to serial numbers, which personal devices do not report.
    if (kind === "personal" || host.hardware_serial === "")
      return `${host.display_name} is a personal device: store apps are assigned to serial numbers`;
    return null;
  };
  return new Map(
    hosts.flatMap((host): [number, string][] => {
      const reason = reasonOf(host);
      return reason === null ? [] : [[host.id, reason]];
    }),
  );
}

/** `storeAppRefusals`, and hosts that are getting the app already. */
export async function installRefusalsOf(
  store: ServerTx,
  hosts: readonly HostRow[],
  app: StoreAppRow,
): Promise<Map<number, string>> {
  const refusals = await storeAppRefusals(store, hosts, app);
  const where = and(
    oneOf(
      "host_id",
      hosts.map(({ id }) => id),
    ),
    eq("title_id", app.title_id),
    eq("status", "pending"),
  );
  const pending = new Set((await store.storeAppInstalls.pick(["host_id"], { where })).map(({ host_id }) => host_id));
  for (const { id, display_name } of hosts)
    if (pending.has(id) && !refusals.has(id)) refusals.set(id, `${display_name} is getting the app already`);
  return refusals;
}

/**
 * Asks for the app in the caller's transaction, under the lock of the host's operations. Returns the id of the device's
 * command. 400 if the host cannot get the app, or is getting it.
 */
export async function requestStoreApp(
  inside: Context,
  host: HostRow,
  app: StoreAppRow,
  request: InstallRequest = {},
): Promise<string> {
  const refusal = (await installRefusalsOf(inside.store, [host], app)).get(host.id);
  if (refusal !== undefined) throw badRequest(refusal);
  return (await requestStoreApps(inside, [host.id], app, request)).get(host.id)!;
}

/**
 * Asks for the app on hosts that are not refused, in the caller's transaction, under the locks of their operations.
 * Returns the ids of the devices' commands, by host.
 */
export async function requestStoreApps(
  inside: Context,
  hostIds: readonly number[],
  app: StoreAppRow,
  { selfService = false, policyId = null }: InstallRequest = {},
): Promise<Map<number, string>> {
  const { store, clock } = inside;
  const request = { hostIds, content: `${app.platform} ${app.adam_id}`, timeout: 0 };
  const operations = await addOperations(inside, storeAppInstall, request);
  await store.storeAppInstalls.insertMany(
    operations.map(({ id, uuid, host_id }) => ({
      id,
      created_at: clock.iso(),
      host_id,
      store_app_id: app.id,
      title_id: app.title_id,
      adam_id: app.adam_id,
      command_uuid: uuid,
      due_at: clock.iso(),
      self_service: selfService,
      policy_id: policyId,
    })),
    { returning: [] },
  );
  // The newest installation decides.
  const state = { title_id: app.title_id, status: installStatuses.pending, installer_id: null };
  await setInstallStatuses(store, hostIds, state);
  await store.notify(channels.storeApps, "");
  return new Map(operations.map(({ host_id, uuid }) => [host_id, uuid]));
}

export const isPending = async (
  store: ServerTx,
  hostId: number,
  app: Pick<StoreAppRow, "title_id">,
): Promise<boolean> =>
  (await store.storeAppInstalls.first({
    where: and(eq("host_id", hostId), eq("title_id", app.title_id), eq("status", "pending")),
  })) !== null;

/** Ends it in the caller's transaction, under the lock of the host's operations. */
export async function endInstall(inside: Inside, row: Pick<InstallRow, "id">, detail: string): Promise<void> {
  const operation = await inside.store.operations.first({
    where: and(eq("id", row.id), oneOf("state", ["queued", "sent"])),
  });
  if (operation)
    await endOperation(inside, operation, { state: detail === "" ? "answered" : "failed", result: { detail } });
}
