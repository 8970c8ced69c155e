// The bootstrap package of hosts: how far its installation is. Each change is in the caller's transaction.
import type { BootstrapSummary } from "../../../api/devices/bootstrap.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import { hosts } from "../hosts/tables.ts";
import type { hostBootstrap } from "./tables.ts";

type HostBootstrapRow = InsertOf<typeof hostBootstrap>;

/** The package was sent to the host. */
export async function sentBootstrap(store: ServerTx, id: number, package_name: string): Promise<void> {
  await store.hostBootstrap.upsert([{ id, status: "pending", package_name, detail: "" }], { on: ["id"] });
}

/** What the host has answered. */
export async function endBootstrap(
  store: ServerTx,
  id: number,
  set: Pick<HostBootstrapRow, "status" | "detail">,
): Promise<void> {
  await store.hostBootstrap.update({ where: eq("id", id), set });
}

export async function forgetBootstrap(store: ServerTx, id: number): Promise<void> {
  await store.hostBootstrap.delete(eq("id", id));
}

export const isBootstrapping = async (store: ServerTx, id: number): Promise<boolean> =>
  (await store.hostBootstrap.get(id))?.status === "pending";

/** 0: hosts without a team. */
export async function countBootstraps(store: ServerTx, teamId: number): Promise<BootstrapSummary> {
  const ofTeam = exists(hosts, "id", inTeam(teamId));
  const count = (status: HostBootstrapRow["status"]) => store.hostBootstrap.count(and(eq("status", status), ofTeam));
  return { installed: await count("installed"), failed: await count("failed"), pending: await count("pending") };
}
