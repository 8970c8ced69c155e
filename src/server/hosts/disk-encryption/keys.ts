// Stores disk encryption keys that managed agents escrow.
import { bytesOfBase64 } from "../../../text/base64.ts";
import { recordHostActivity } from "../../platform/activities/by-host.ts";
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { type Context, service, within } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { HostRow } from "../hosts/access.ts";
import { requestRefetch } from "../hosts/write.ts";
import { recordEscrow } from "./history.ts";
import { recordDisks } from "./states.ts";

/** The host whose agent sends a key. */
interface AgentHost {
  readonly hostId: number;
  readonly platform: string;
  readonly platformLike: string;
}

/** Windows: the key is sent as base64. Only for hosts enrolled in this server's MDM. */
export async function keepBitlockerKey(
  ctx: Context,
  { hostId }: Pick<AgentHost, "hostId">,
  report: { encryption_key: string; client_error: string },
): Promise<void> {
  const enrollment = await ctx.store.hostMdm.get(hostId);
  if (!enrollment?.connected_to_svc) throw badRequest("the host is not enrolled in this server's MDM");
  if (report.client_error !== "") return keepError(ctx, hostId, report.client_error);
  const key = textInBase64(report.encryption_key);
  if (key === null) throw badRequest("encryption_key must be base64", "encryption_key");
  await keepKey(ctx, hostId, { key, isConfirmed: (host) => host.disk_encryption_enabled === true });
}

export async function keepLuksPassphrase(
  ctx: Context,
  agent: AgentHost,
  report: { passphrase: string; salt: string; key_slot?: number | null | undefined; client_error: string },
): Promise<void> {
  if (platformFamily(agent.platform, agent.platformLike) !== "linux")
    throw badRequest("LUKS keys are kept of Linux hosts only");
  if (report.client_error !== "") return keepError(ctx, agent.hostId, report.client_error);
  const { passphrase, salt, key_slot } = report;
  for (const [name, missing] of [
    ["passphrase", passphrase === ""],
    ["salt", salt === ""],
    ["key_slot", key_slot === null || key_slot === undefined],
  ] as const)
    if (missing) throw badRequest(`${name} is required`, name);
  await keepKey(ctx, agent.hostId, { key: passphrase, salt, slot: key_slot! });
}

interface NewKey {
  readonly key: string;
  readonly salt?: string | null;
  readonly slot?: number | null;
  /** Whether the disk is known to be encrypted. Default: yes. */
  isConfirmed?(host: HostRow): boolean;
}

async function keepKey(
  ctx: Context,
  hostId: number,
  { key, salt = null, slot = null, isConfirmed = () => true }: NewKey,
): Promise<void> {
  const { clock } = ctx;
  await ctx.store.tx(async (store) => {
    const host = await hostOf(store, hostId);
    const status = isConfirmed(host) ? "verified" : "verifying";
    const before = await store.hostDiskEncryption.get(hostId);
    const keyColumns = { key, sealed_key: null, key_salt: salt, key_slot: slot };
    await recordEscrow(within(ctx, store), hostId, { before, key: keyColumns, source: "agent" });
    await store.hostDiskEncryption.upsert(
      [
        {
          id: hostId,
          status,
          detail: "",
          key,
          key_salt: salt,
          key_slot: slot,
          key_updated_at: clock.iso(),
          client_error: "",
        },
      ],
      { on: ["id"] },
    );
    await recordDisks(store, [{ id: hostId, status }]);
    // The next report says whether the disk is protected.
    if (status === "verifying") await requestRefetch(store, hostId);
    await store.notify(channels.hosts, hostsPayload([hostId]));
    await store.notify(channels.diskKeys, "");
    const details = { host_id: hostId, host_display_name: host.display_name };
    const recorder = { ...within(ctx, store), user: service };
    await recordHostActivity(recorder, hostId, "escrowed_disk_encryption_key", details, { isListed: false });
  });
}

async function keepError(ctx: Context, hostId: number, error: string): Promise<void> {
  const client_error = error.slice(0, 4096);
  await ctx.store.tx(async (store) => {
    const host = await hostOf(store, hostId);
    const before = await store.hostDiskEncryption.get(hostId);
    // An error does not discard the key: the disk is encrypted, but its user or an administrator has to protect it.
    const isUnprotected = before?.key != null && host.disk_encryption_enabled === false;
    const status = isUnprotected ? "action_required" : "failed";
    await store.hostDiskEncryption.upsert([{ id: hostId, status, detail: client_error, client_error }], {
      on: ["id"],
    });
    await recordDisks(store, [{ id: hostId, status }]);
    await store.notify(channels.hosts, hostsPayload([hostId]));
    await store.notify(channels.diskKeys, "");
  });
}

async function hostOf(store: Context["store"], id: number): Promise<HostRow> {
  const host = await store.hosts.get(id);
  if (!host) throw notFound("host", id);
  return host;
}

function textInBase64(text: string): string | null {
  return bytesOfBase64(text)?.toString("utf8") || null;
}

/** Deletes the keys that hosts have escrowed, former ones too, and the state of their disks. */
export async function forgetDiskKeys({ store }: Pick<Context, "store">, hostIds: readonly number[]): Promise<void> {
  await store.diskKeyHistory.delete(oneOf("host_id", hostIds));
  const disks = await store.hostDiskEncryption.pick(["id"], { where: oneOf("id", hostIds) });
  if (disks.length === 0) return;
  await store.hostDiskEncryption.delete(oneOf("id", hostIds));
  await recordDisks(
    store,
    disks.map(({ id }) => ({ id, status: null })),
  );
}
