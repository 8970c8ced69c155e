// What a host does during its setup: which items it has, how each is asked for, and what became of it.
import type { SetupPlatform } from "../../../api/setup-platforms.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { addOperations, isOpen } from "../../hosts/operations/queue.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { isPhone, platformFamily } from "../../platform/core/platforms.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import { installersForHost } from "../../software/installers/hosts.ts";
import { extensionOf, runsOn, scriptText } from "../../software/script-texts/texts.ts";
import { addExecution } from "../scripts/executions.ts";
import { runScript } from "../scripts/kind.ts";
import { timeoutOf } from "../scripts/run.ts";
import { hasPendingRun, requestInstall } from "../software-installs/service.ts";
import { endingOf, messageOf } from "../software-installs/view.ts";
import { isPending, refusalOf } from "../store-apps/installs.ts";
import { scriptOfTeam } from "./script.ts";
import { candidatesFor } from "./software.ts";
import type { SetupItemRow } from "./tables.ts";

/** An item before its setup has begun. */
export type PlannedItem = Pick<SetupItemRow, "kind" | "title_id" | "name" | "display_name">;

/** Managed agents run on three platforms, of which the third has many names. */
function platformOf({ platform, platform_like }: HostRow): SetupPlatform {
  if (isPhone(platform)) return platform as SetupPlatform;
  const family = platformFamily(platform, platform_like);
  return family === "darwin" || family === "windows" ? family : "linux";
}

/** What is chosen for the host: software in its order, then the script. What the host cannot get is left out. */
export async function plannedItems(store: ServerTx, host: HostRow): Promise<PlannedItem[]> {
  const candidates = await candidatesFor(store, host.team_id, platformOf(host));
  const chosen = candidates.filter(({ position }) => position !== null);
  const installable = byId(
    chosen.some(({ installer }) => installer !== null)
      ? await installersForHost(store, host, eq("install_during_setup", true))
      : [],
  );
  const titles = byId(await store.softwareTitles.getMany(chosen.map(({ title_id }) => title_id)));
  const planned: PlannedItem[] = [];
  for (const { title_id, installer, app } of chosen) {
    const isForIt = app ? (await refusalOf(store, host, app)) === null : installable.has(installer!.id);
    if (!isForIt) continue;
    const { display_name } = (app ?? installer)!;
    const name = titles.get(title_id)?.name ?? "";
    planned.push({ kind: app ? "store_app" : "package", title_id, name, display_name });
  }
  const script = await scriptOfTeam(store, host.team_id);
  if (script !== null && runsOn(extensionOf(script.name, "script"), host.platform, host.platform_like))
    planned.push({ kind: "script", title_id: null, name: script.name, display_name: "" });
  return planned;
}

/** What to write of an item. */
export type ItemChange = Pick<SetupItemRow, "state"> & Partial<Pick<SetupItemRow, "kind" | "uuid" | "detail">>;

export const failedItem = (detail: string): ItemChange => ({ state: "failure", detail });

/**
 * Asks the host for the item, in the caller's transaction, under the lock of the host's operations. Null: it cannot be
 * asked for yet.
 */
export async function askFor(inside: Context, host: HostRow, item: SetupItemRow): Promise<ItemChange | null> {
  const { store } = inside;
  // The agent may be installed while the device waits.
  if (item.kind !== "store_app" && (await store.managedAgents.get(host.id)) === null) return null;
  if (item.kind === "script") return askForScript(inside, host);
  if (item.title_id === null) return failedItem("the software was deleted meanwhile");
  const request = { hostId: host.id, titleId: item.title_id };
  // A policy, or a user, asks for it at this moment.
  const isBusy =
    (await hasPendingRun(store, host.id, item.title_id)) ||
    (await isPending(store, host.id, { title_id: item.title_id }));
  if (isBusy) return null;
  try {
    const { uuid, kind } = await requestInstall(inside, request);
    return { state: "running", uuid, kind };
  } catch (error) {
    // What refuses has written nothing.
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return failedItem(error.errors[0]?.reason ?? error.message);
  }
}

async function askForScript(inside: Context, host: HostRow): Promise<ItemChange> {
  const { store } = inside;
  const script = await scriptOfTeam(store, host.team_id);
  if (script === null) return failedItem("the script was deleted meanwhile");
  if (host.scripts_enabled === false) return failedItem(`${host.display_name} does not have scripts enabled`);
  const content = await scriptText(store, script.text_id);
  const timeout = await timeoutOf({ ...inside, config: inside.config.over(store) }, host.team_id);
  const [operation] = await addOperations(inside, runScript, { hostIds: [host.id], content, timeout });
  await addExecution(store, host, operation!, content, script.name);
  return { state: "running", uuid: operation!.uuid };
}

/** How an item has ended that the host was asked for. Null: it has not. */
export async function outcomeOf(store: ServerTx, item: SetupItemRow): Promise<ItemChange | null> {
  const uuid = item.uuid ?? "";
  if (item.kind === "package") return packageOutcome(store, uuid);
  return item.kind === "store_app" ? appOutcome(store, uuid, item.host_id) : scriptOutcome(store, uuid);
}

const CANCELLED = failedItem("it was cancelled");
/** A host's operations may have been cancelled all at once. */
const isLost = async (store: ServerTx, uuid: string): Promise<boolean> =>
  (await store.operations.count(and(eq("uuid", uuid), isOpen))) === 0;

async function packageOutcome(store: ServerTx, uuid: string): Promise<ItemChange | null> {
  const run = await store.softwareInstallRuns.first({ where: eq("uuid", uuid) });
  if (run === null || run.status === "canceled") return CANCELLED;
  if (run.status === "installed") return { state: "success" };
  if (run.status !== "pending_install") return failedItem(messageOf(run));
  return (await isLost(store, uuid)) ? CANCELLED : null;
}

async function appOutcome(store: ServerTx, uuid: string, hostId: number): Promise<ItemChange | null> {
  const where = and(eq("command_uuid", uuid), eq("host_id", hostId));
  const install = await store.storeAppInstalls.first({ where });
  if (install === null) return CANCELLED;
  if (install.status === "installed") return { state: "success" };
  if (install.status === "failed") return failedItem(install.detail);
  return (await isLost(store, uuid)) ? CANCELLED : null;
}

async function scriptOutcome(store: ServerTx, uuid: string): Promise<ItemChange | null> {
  const execution = await store.scriptExecutions.first({ where: eq("uuid", uuid) });
  if (execution === null || execution.state === "cancelled") return CANCELLED;
  if (execution.state === "pending") return (await isLost(store, uuid)) ? CANCELLED : null;
  return execution.exit_code === 0
    ? { state: "success" }
    : failedItem(`the script ${endingOf(execution.exit_code ?? -1)}`);
}
