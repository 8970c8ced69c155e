// Apps of organizations for iPhones and iPads. A team offers them as packages; devices install them as they install store
// apps, but without a license: they fetch a manifest, and the file that it names.
import type { Content, Download } from "../../../api/bodies.ts";
import { inHouseAppsApi } from "../../../api/delivery/in-house-apps.ts";
import type { PlistDict } from "../../../plist/value.ts";
import { writePlist } from "../../../plist/write.ts";
import type { AppleDeviceListener } from "../../devices/apple/channel/listeners.ts";
import { appleCommandKind, type LateContent } from "../../devices/apple/commands/kind.ts";
import { deviceUrl } from "../../devices/apple/trust/service.ts";
import { commandOf } from "../../devices/commands/rows.ts";
import type { Ending, Inside, Operation } from "../../hosts/operations/kind.ts";
import { endOperation } from "../../hosts/operations/queue.ts";
import { channels } from "../../platform/core/channels.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { notThere } from "../../platform/core/errors.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { downloadOf } from "../../platform/files/service.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import type { Installer } from "../../software/installers/hosts.ts";
import { appConfiguration } from "../../software/installers/scripts.ts";
import { afterCommand, IN_HOUSE, pendingInstall, REMOVE_WITH_MANAGEMENT } from "./commands.ts";
import type { InstallResult } from "./installs.ts";
import type { InstallRow } from "./tables.ts";

export const isInHouse = ({ adam_id }: Pick<InstallRow, "adam_id">): boolean => adam_id === "";

/** From the moment in which the device gets the command. */
const TOKEN_LIFETIME = hours(1);

export const inHouseCommand = appleCommandKind({
  name: IN_HOUSE,
  title: "in-house app",
  ended: afterCommand,
});

/** The address contains a token that is made when the device gets the command: it may have waited for days. */
const inHouseInstallCommand: LateContent = async (ctx, operation) => {
  const { store, clock, random } = ctx;
  const row = await pendingInstall(ctx, operation);
  const token = `${row?.id ?? 0}.${random.token(32)}`;
  // Without an installation or an address, the token is unknown: the device reports that it could not fetch the app.
  if (row !== null)
    await store.storeAppInstalls.update({
      where: eq("id", row.id),
      set: { token_hash: tokenHash(token), token_until: isoAt(clock.now() + TOKEN_LIFETIME) },
    });
  return {
    RequestType: "InstallApplication",
    ManifestURL: (await addressOf(ctx, inHouseAppsApi.manifest.path, row?.title_id ?? 0, token)) ?? "",
    InstallAsManaged: true,
    ChangeManagementState: "Managed",
    ManagementFlags: REMOVE_WITH_MANAGEMENT,
    ...(await configurationOf(ctx, row)),
  };
};

export const inHouseCommandListener: AppleDeviceListener = {
  builtLate: { [inHouseCommand.name]: inHouseInstallCommand },
};

/** The settings of the app, as the team has them when the device gets the command. */
async function configurationOf({ store }: Pick<Context, "store">, row: InstallRow | null): Promise<PlistDict> {
  const installer = row?.installer_id == null ? null : await store.softwareInstallers.get(row.installer_id);
  return installer?.configuration ? { Configuration: appConfiguration(installer.configuration) } : {};
}

const addressOf = (ctx: Context, path: string, titleId: number, token: string): Promise<string | null> =>
  deviceUrl(ctx, `${path.replace(":id", String(titleId))}?token=${encodeURIComponent(token)}`);

/** 404 unless the token is that of an installation of the title which goes on. */
async function installerWith(ctx: Context, titleId: number, token: string): Promise<Installer> {
  const { store, clock } = ctx;
  const [, id] = /^([1-9]\d{0,14})\./.exec(token) ?? [];
  const isOpen = and(eq("token_hash", tokenHash(token)), eq("status", "pending"), gt("token_until", clock.iso()));
  const row =
    id === undefined ? null : await store.storeAppInstalls.first({ where: and(eq("id", Number(id)), isOpen) });
  const installer = row?.installer_id == null ? null : await store.softwareInstallers.get(row.installer_id);
  if (!installer || installer.title_id !== titleId) throw notThere("this token is unknown or expired");
  return installer;
}

export async function inHouseManifest(ctx: Context, titleId: number, token: string): Promise<Content> {
  const installer = await installerWith(ctx, titleId, token);
  const { name } = (await ctx.store.softwareTitles.get(titleId))!;
  const url = await addressOf(ctx, inHouseAppsApi.download.path, titleId, token);
  if (url === null) throw notThere("the server has no server_url");
  const metadata = {
    kind: "software",
    "bundle-identifier": installer.bundle_identifier,
    "bundle-version": installer.version,
    title: name,
  };
  return { content: Buffer.from(writePlist({ items: [{ assets: [{ kind: "software-package", url }], metadata }] })) };
}

export async function inHouseFile(ctx: Context, titleId: number, token: string): Promise<Download> {
  const { file_id, file_name } = await installerWith(ctx, titleId, token);
  return downloadOf(ctx, file_id, { name: file_name });
}

/** In the transaction that has added the operations, under the locks of the hosts' operations. */
export async function addInHouseInstalls(
  { store, clock }: Context,
  { id: installer_id, title_id }: Pick<Installer, "id" | "title_id">,
  operations: readonly Pick<Operation, "id" | "uuid" | "host_id">[],
  selfService: boolean,
): Promise<void> {
  await store.storeAppInstalls.insertMany(
    operations.map(({ id, uuid, host_id }) => ({
      id,
      created_at: clock.iso(),
      host_id,
      store_app_id: null,
      installer_id,
      title_id,
      adam_id: "",
      command_uuid: uuid,
      due_at: clock.iso(),
      self_service: selfService,
      policy_id: null,
    })),
    { returning: [] },
  );
  await store.notify(channels.storeApps, "");
}

/**
 * Ends the install when its operation ends, in that transaction. A command that the device did not get yet is
 * withdrawn.
 */
export async function endInHouseInstall(
  inside: Inside,
  { id }: Pick<Operation, "id">,
  { state, result }: Ending<InstallResult>,
): Promise<void> {
  const { store, clock } = inside;
  const row = await store.storeAppInstalls.get(id);
  if (!row) return;
  if (state !== "cancelled") {
    const set = { status: state === "answered" ? "installed" : "failed", detail: result?.detail ?? "" } as const;
    const ended = { ended_at: clock.iso(), due_at: null, token_hash: "", token_until: null };
    await store.storeAppInstalls.update({ where: eq("id", id), set: { ...set, ...ended } });
    return;
  }
  await store.storeAppInstalls.delete(eq("id", id));
  const command = await commandOf(store, row.host_id, row.command_uuid);
  const waiting = command && (await store.operations.get(command.id));
  if (waiting?.state === "queued") await endOperation(inside, waiting, { state: "cancelled", result: null });
}
