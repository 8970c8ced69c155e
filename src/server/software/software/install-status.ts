// The state of what this server last installed or uninstalled on hosts: of packages and store apps.
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import type { InstallStatus } from "./tables.ts";

interface InstallPlace {
  readonly host_id: number;
  readonly title_id: number;
}
interface InstallState {
  readonly status: InstallStatus;
  /** The package that it counts for. Null: a store app. */
  readonly installer_id: number | null;
}

/** Null: nothing that counts was installed or uninstalled. */
export async function setInstallStatus(
  store: ServerTx,
  place: InstallPlace,
  state: InstallState | null,
): Promise<void> {
  const { host_id, title_id } = place;
  if (state === null) {
    await store.softwareInstalls.delete(and(eq("host_id", host_id), eq("title_id", title_id)));
    return;
  }
  await store.softwareInstalls.upsert([{ host_id, title_id, ...state }], {
    on: ["host_id", "title_id"],
    returning: [],
  });
}

/** Sets the state of the title on each of these hosts. */
export async function setInstallStatuses(
  store: ServerTx,
  hostIds: readonly number[],
  { title_id, ...state }: InstallState & Pick<InstallPlace, "title_id">,
): Promise<void> {
  await store.softwareInstalls.upsert(
    hostIds.map((host_id) => ({ host_id, title_id, ...state })),
    { on: ["host_id", "title_id"], returning: [] },
  );
}

/** What hosts have done with this package counts no more. */
export async function forgetInstallsOf(store: ServerTx, installerId: number): Promise<void> {
  await store.softwareInstalls.delete(eq("installer_id", installerId));
}

/** For hosts whose pending operations were all cancelled. */
export async function forgetPendingInstalls(store: ServerTx, hostIds: readonly number[]): Promise<void> {
  await store.softwareInstalls.delete(
    and(oneOf("host_id", hostIds), not(oneOf("status", ["installed", "failed_install", "failed_uninstall"]))),
  );
}
