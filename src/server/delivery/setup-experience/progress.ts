// The setup of a host, step by step. Everything is in its rows, so any server takes any step; each step is one transaction
// under the lock of the host's operations.

import type { HostRow } from "../../hosts/hosts/access.ts";
import { operationLock } from "../../hosts/operations/queue.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { type Context, isPremium, service, within } from "../../platform/core/context.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { SharedMdm } from "../../settings/teams/mdm.ts";
import { mdmOfTeam } from "../../settings/teams/mdm.ts";
import { continueDevice, isSetupHeld } from "./device-waits.ts";
import { askFor, failedItem, type ItemChange, outcomeOf, plannedItems } from "./items.ts";
import { scriptOfTeam } from "./script.ts";
import type { HostSetupRow, SetupItemRow } from "./tables.ts";

/** Whether anything is chosen for the hosts of a team, on whatever platform. */
async function isChosenFor(store: ServerTx, teamId: number | null): Promise<boolean> {
  const chosen = and(inTeam(teamId ?? 0), eq("install_during_setup", true));
  return (
    (await scriptOfTeam(store, teamId)) !== null ||
    (await store.softwareInstallers.first({ where: chosen })) !== null ||
    (await store.storeApps.first({ where: chosen })) !== null
  );
}

type Expecting = Pick<HostRow, "id" | "team_id">;

/**
 * The hosts get their first managed agent, which begins their setup. Those that have had one, or are set up already,
 * keep what they have. In the transaction in which they enroll.
 */
export async function expectSetups(store: ServerTx, hosts: readonly Expecting[], now: string): Promise<void> {
  if (hosts.length === 0) return;
  const chosen = new Map<number | null, boolean>();
  for (const { team_id } of hosts) if (!chosen.has(team_id)) chosen.set(team_id, await isChosenFor(store, team_id));
  const rows = hosts.map(({ id, team_id }) => newSetup(id, team_id, chosen.get(team_id)!, now));
  await store.hostSetups.upsert(rows, { on: ["id"], set: [], returning: [] });
}

const newSetup = (id: number, team_id: number | null, isWanted: boolean, created_at: string) => ({
  id,
  created_at,
  team_id,
  state: isWanted ? ("pending" as const) : ("none" as const),
  started_at: null,
  ended_at: null,
});

/** The device is new again: it waits in its setup assistant. In the transaction in which it enrolls. */
export async function restartSetup(inside: Context, hostId: number): Promise<void> {
  const { store, clock } = inside;
  const host = (await store.hosts.get(hostId))!;
  const isWanted = isPremium(inside) && (await isChosenFor(store, host.team_id));
  await store.hostSetupItems.delete(eq("host_id", hostId));
  const row = newSetup(hostId, host.team_id, isWanted, clock.iso());
  await store.hostSetups.upsert([row], { on: ["id"], returning: [] });
  await changed(store, hostId);
}

/** The agent's configuration says whether there is a setup. */
const changed = (store: ServerTx, hostId: number) => store.notify(channels.hosts, hostsPayload([hostId]));

export const isSetupOpen = (setup: Pick<HostSetupRow, "state"> | null | undefined): boolean =>
  setup?.state === "pending" || setup?.state === "running";

/** Takes the steps that can be taken now. `isForced`: the host's device is not kept waiting any longer. */
export async function continueHostSetup(ctx: Context, hostId: number, isForced = false): Promise<void> {
  if (!isForced && !(await canProceed(ctx, hostId))) return;
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const isOpen = isSetupOpen(await store.hostSetups.get(hostId));
    const isOver = isOpen && !(await isSetupHeld(store, hostId)) && (await proceed(inside, hostId));
    if (!isOver && !isForced) return;
    await continueDevice(inside, hostId, isForced);
  }, operationLock(hostId));
}

/** Agents ask every few seconds: mostly, the host is still busy with an item. */
async function canProceed({ store }: Context, hostId: number): Promise<boolean> {
  const setup = await store.hostSetups.get(hostId);
  if (!isSetupOpen(setup)) return false;
  const running = and(eq("host_id", hostId), eq("state", "running"));
  const item = await store.hostSetupItems.first({ where: running });
  return item === null || (await outcomeOf(store, item)) !== null;
}

/**
 * Writes how the present item has ended, and begins the next one. Returns whether nothing is left to do. In the caller's
 * transaction, under the lock of the host's operations.
 */
export async function proceed(ctx: Context, hostId: number): Promise<boolean> {
  const inside = { ...ctx, user: service };
  const { store } = inside;
  const setup = await store.hostSetups.get(hostId);
  const host = await store.hosts.get(hostId);
  if (!setup || !host || !isSetupOpen(setup)) return true;
  const teamId = setup.state === "pending" ? await begin(inside, host) : setup.team_id;
  const items = await store.hostSetupItems.list({
    where: eq("host_id", hostId),
    order: [{ column: "position", direction: "asc" }],
  });
  for (const item of items) {
    if (item.state === "success" || item.state === "failure") continue;
    const set = await nextOf(inside, host, item, teamId);
    if (set === null) return false;
    await store.hostSetupItems.update({ where: eq("id", item.id), set });
    if (set.state === "running") return false;
    if (set.state === "failure" && item.kind !== "script" && (await requiresAll(inside, host))) {
      await cancelRest(inside, host, item);
      break;
    }
  }
  const set = { state: "ended", ended_at: inside.clock.iso() } as const;
  await store.hostSetups.update({ where: eq("id", hostId), set });
  await changed(store, hostId);
  return true;
}

function nextOf(
  inside: Context,
  host: HostRow,
  item: SetupItemRow,
  teamId: number | null,
): Promise<ItemChange | null> | ItemChange {
  if (item.state === "running") return outcomeOf(inside.store, item);
  return host.team_id === teamId ? askFor(inside, host, item) : failedItem("the host has changed its team");
}

/** From here on its items are fixed. Returns the team that they are of. */
async function begin({ store, clock }: Context, host: HostRow): Promise<number | null> {
  const planned = await plannedItems(store, host);
  const set = { state: "running", team_id: host.team_id, started_at: clock.iso() } as const;
  await store.hostSetups.update({ where: eq("id", host.id), set });
  if (planned.length > 0)
    await store.hostSetupItems.insertMany(planned.map((item, position) => ({ ...item, host_id: host.id, position })));
  return host.team_id;
}

/** The setting that makes each platform's hosts stop at the first software that fails. */
const stopping: Readonly<Record<string, (setup: SharedMdm["macos_setup"]) => boolean>> = {
  darwin: (setup) => setup.require_all_software_macos,
  windows: (setup) => setup.require_all_software_windows,
};

async function requiresAll({ store, config }: Context, { platform, team_id }: HostRow): Promise<boolean> {
  const mdm = await mdmOfTeam({ store, config: config.over(store) }, team_id);
  return stopping[platform]?.(mdm.macos_setup) ?? false;
}

async function cancelRest(inside: Context, host: HostRow, failed: SetupItemRow): Promise<void> {
  const { store } = inside;
  const rest = and(eq("host_id", host.id), oneOf("state", ["pending"]));
  const detail = `cancelled, because ${failed.display_name || failed.name} was not installed`;
  await store.hostSetupItems.update({ where: rest, set: { state: "failure", detail } });
  const details = {
    host_id: host.id,
    host_display_name: host.display_name,
    software_title: failed.name,
    software_title_id: failed.title_id,
  };
  await recordActivity(inside, "canceled_setup_experience", details, { hostId: host.id });
}
