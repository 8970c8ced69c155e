// What users of hosts ask for on the page of their host: that a key is escrowed, or replaced by a new one.

import { channels, hostsPayload } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { mustEncrypt } from "../../settings/app-config/sections/mdm-rules.ts";
import { mdmOfTeam } from "../../settings/teams/mdm.ts";
import type { HostRow } from "../hosts/access.ts";
import { hosts } from "../hosts/tables.ts";
import type { hostDiskEncryption } from "./tables.ts";

export type EncryptionRequest = NonNullable<RowOf<typeof hostDiskEncryption>["asked"]>;

interface OfferedHost extends Pick<HostRow, "id" | "platform" | "platform_like"> {
  readonly disk_encryption_enabled?: boolean | null | undefined;
}

/** Linux: the agent asks its user for the passphrase, and escrows a key of its own. 400 if there is nothing to escrow. */
export async function requestEscrow(ctx: Pick<Context, "store" | "config">, host: HostRow): Promise<void> {
  if (platformFamily(host.platform, host.platform_like) !== "linux")
    throw badRequest("keys are escrowed in this way on Linux only");
  if (host.disk_encryption_enabled !== true)
    throw badRequest("the disk of the host is not encrypted: there is no key that could be escrowed");
  if (!(await escrowsKeys(ctx, host.team_id)))
    throw badRequest(
      host.team_id === null
        ? "disk encryption is turned off for hosts without a team: no key is escrowed"
        : "disk encryption is turned off for the team of the host: no key is escrowed",
    );
  await ask(ctx, host, "escrow");
}

/** Whether the setting of the team demands keys of Linux hosts. */
export const escrowsKeys = async (ctx: Pick<Context, "store" | "config">, teamId: number | null): Promise<boolean> =>
  mustEncrypt(await mdmOfTeam(ctx, teamId), "linux");

/** Mac: the agent replaces the recovery key, and the new one is escrowed. */
export async function requestRotation(ctx: Pick<Context, "store">, host: HostRow): Promise<void> {
  if (host.platform !== "darwin") throw badRequest("only Macs can replace their recovery key");
  if (host.disk_encryption_enabled === false) throw badRequest("the disk of the host is not encrypted: it has no key");
  await ask(ctx, host, "rotate");
}

/** What the user of the host may ask for with effect; null: nothing. */
export async function offeredTo(
  { store }: Pick<Context, "store">,
  { id, platform, platform_like, disk_encryption_enabled }: OfferedHost,
): Promise<EncryptionRequest | null> {
  if (disk_encryption_enabled !== true || (await store.managedAgents.get(id)) === null) return null;
  if (platform === "darwin") return "rotate";
  return platformFamily(platform, platform_like) === "linux" ? "escrow" : null;
}

async function ask({ store }: Pick<Context, "store">, { id }: HostRow, request: EncryptionRequest): Promise<void> {
  if ((await store.managedAgents.get(id)) === null)
    throw badRequest("the host has no managed agent, which would have to do it");
  await store.tx(async (tx) => {
    await tx.hostDiskEncryption.upsert([{ id, asked: request }], { on: ["id"], returning: [] });
    await tx.notify(channels.hosts, hostsPayload([id]));
  });
}

/** Whether the agent is to be sent it now: of several servers, only one sends it. */
export async function isSentNow(store: ServerTx, id: number, request: EncryptionRequest): Promise<boolean> {
  return store.tx(async (tx) => {
    const where = and(eq("id", id), eq("asked", request));
    const isMine = (await tx.hostDiskEncryption.update({ where, set: { asked: null } })) > 0;
    if (isMine) await tx.notify(channels.hosts, hostsPayload([id]));
    return isMine;
  });
}

/** Forgets what users of these hosts have asked for, because their team demands no keys any more. */
export async function dropEscrowRequests(store: ServerTx, where: Predicate): Promise<void> {
  const requested = and(eq("asked", "escrow"), exists(hosts, "id", where));
  const ids = (await store.hostDiskEncryption.pick(["id"], { where: requested })).map(({ id }) => id);
  if (ids.length === 0) return;
  await store.hostDiskEncryption.update({ where: and(oneOf("id", ids), eq("asked", "escrow")), set: { asked: null } });
  await store.notify(channels.hosts, hostsPayload(ids));
}
