// What agents, hosts' own pages and users see of the setup of a host.

import type { z } from "zod";
import type { HostSetup, SetupItem, SetupResults } from "../../../api/delivery/setup-results.ts";
import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { ownIcons } from "../../software/software/icons.ts";
import { listingOf } from "../store-apps/licensed.ts";
import { deviceSteps } from "./device-waits.ts";
import { outcomeOf, type PlannedItem, plannedItems } from "./items.ts";
import { continueHostSetup, isSetupOpen } from "./progress.ts";
import type { HostSetupRow, SetupItemRow } from "./tables.ts";

type CurrentItem = PlannedItem & Pick<SetupItemRow, "state" | "uuid" | "detail">;

/**
 * The items of a setup in their present state, although nobody has written it yet. Before the setup has begun: what is
 * chosen now.
 */
async function itemsOf(store: ServerTx, host: HostRow, setup: HostSetupRow | null): Promise<CurrentItem[]> {
  if (setup === null || setup.state === "none") return [];
  if (setup.state === "pending") {
    const planned = await plannedItems(store, host);
    return planned.map((item) => ({ ...item, state: "pending", uuid: null, detail: "" }));
  }
  const items = await store.hostSetupItems.list({
    where: eq("host_id", host.id),
    order: [{ column: "position", direction: "asc" }],
  });
  return Promise.all(
    items.map(async (item) => ({ ...item, ...(item.state === "running" ? await outcomeOf(store, item) : null) })),
  );
}

/** Icons of titles: those that the team has set come before those of the store. */
async function iconsOf({ store }: Context, teamId: number | null, items: readonly CurrentItem[]) {
  const idsOf = (list: readonly CurrentItem[]) => list.flatMap(({ title_id }) => title_id ?? []);
  const inStore = idsOf(items.filter(({ kind }) => kind === "store_app"));
  const where = and(inTeam(teamId ?? 0), oneOf("title_id", inStore));
  const apps = inStore.length === 0 ? [] : await store.storeApps.list({ where });
  const listed = await Promise.all(
    apps.map(async (app) => [app.title_id, (await listingOf(store, app))?.icon_url ?? null] as const),
  );
  return new Map<number, string | null>([...listed, ...(await ownIcons(store, teamId, idsOf(items)))]);
}

const itemOnWire = ({ kind, title_id, uuid, ...item }: CurrentItem, icon_url: string | null): SetupItem => ({
  name: item.name,
  display_name: item.display_name || item.name,
  status: item.state,
  ...(kind === "script" ? { execution_id: uuid } : { software_title_id: title_id }),
  icon_url,
  error: item.detail === "" ? null : item.detail,
});

/** `script` is null if there is none. */
async function partsOf(ctx: Context, host: HostRow, setup: HostSetupRow | null) {
  const items = await itemsOf(ctx.store, host, setup);
  const icons = await iconsOf(ctx, host.team_id, items);
  const all = items.map((item) => ({ item, shown: itemOnWire(item, icons.get(item.title_id ?? 0) ?? null) }));
  return {
    software: all.flatMap(({ item, shown }) => (item.kind === "script" ? [] : shown)),
    script: all.find(({ item }) => item.kind === "script")?.shown ?? null,
  };
}

function statusOf(setup: HostSetupRow | null, items: readonly SetupItem[]): HostSetup["status"] {
  if (setup === null || setup.state === "none") return "none";
  if (setup.state !== "ended") return setup.state;
  return items.some(({ status }) => status === "failure") ? "failure" : "success";
}

/** The setup of a host that the caller may see. */
export async function hostSetup(ctx: Context, host: HostRow): Promise<HostSetup> {
  const setup = await ctx.store.hostSetups.get(host.id);
  const { software, script } = await partsOf(ctx, host, setup);
  const status = statusOf(setup, script === null ? software : [...software, script]);
  return { status, started_at: setup?.started_at ?? null, ended_at: setup?.ended_at ?? null, software, script };
}

export async function setupOfHost(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read", id);
  return { host_id: host.id, setup_experience: await hostSetup(ctx, host) };
}

/** The host's agent, or its own page, asks how far it is, which begins what comes next. */
export async function polledSetup(ctx: Context, hostId: number, isForced = false) {
  await continueHostSetup(ctx, hostId, isForced);
  const host = (await ctx.store.hosts.get(hostId))!;
  const { software, script } = await partsOf(ctx, host, await ctx.store.hostSetups.get(hostId));
  return { software, ...(script === null ? {} : { script }) };
}

/** Icons with an address of this server need the token of a user, which agents do not have. */
const forAgent = (item: SetupItem): SetupItem => ({
  ...item,
  icon_url: item.icon_url?.startsWith("/") ? null : item.icon_url,
});

export async function setupForAgent(
  ctx: Context,
  hostId: number,
  isForced: boolean,
): Promise<z.output<typeof SetupResults>> {
  const { software, script } = await polledSetup(ctx, hostId, isForced);
  const { org_info } = await ctx.config.current();
  return {
    ...(script === undefined ? {} : { script: forAgent(script) }),
    software: software.map(forAgent),
    org_logo_url: org_info.org_logo_url,
    ...(await deviceSteps(ctx.store, hostId)),
  };
}

/** Whether the agent has to ask for its progress from now on. */
export async function startForAgent(ctx: Context, hostId: number): Promise<boolean> {
  await continueHostSetup(ctx, hostId);
  return isPremium(ctx) && isSetupOpen(await ctx.store.hostSetups.get(hostId));
}
