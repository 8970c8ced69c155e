// The commands by which devices install store apps, and show that they have done so.

import { dictsIn, type PlistDict, stringIn } from "../../../plist/value.ts";
import type { AppleDeviceListener } from "../../devices/apple/channel/listeners.ts";
import { type AppleAnswer, answerOf, appleCommandKind } from "../../devices/apple/commands/kind.ts";
import { sendAppleCommands } from "../../devices/apple/commands/send.ts";
import { APPLE_LANE } from "../../devices/apple/lane.ts";
import type { Ending, Inside, Operation } from "../../hosts/operations/kind.ts";
import { dropOperations, openOperations } from "../../hosts/operations/queue.ts";
import { channels } from "../../platform/core/channels.ts";
import { isoAt, seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, isNull, lte, not } from "../../platform/store/query.ts";
import { appConfiguration } from "../../software/installers/scripts.ts";
import { endInstall, STORE_LANE } from "./installs.ts";
import { releaseLicenses } from "./licenses.ts";
import type { InstallRow, StoreAppRow } from "./tables.ts";

/** How often a device is asked whether it has installed the app. */
const ASKED_EVERY = seconds(30);

/** The app goes with the device's management, as its license does. */
export const REMOVE_WITH_MANAGEMENT = 1;
/** A license of the organization. */
const BY_LICENSE = 1;

export const installCommand = (app: StoreAppRow): PlistDict & { RequestType: string } => ({
  RequestType: "InstallApplication",
  iTunesStoreID: Number(app.adam_id),
  InstallAsManaged: true,
  ChangeManagementState: "Managed",
  ManagementFlags: REMOVE_WITH_MANAGEMENT,
  Options: { PurchaseMethod: BY_LICENSE },
  ...(app.configuration === "" ? {} : { Configuration: appConfiguration(app.configuration) }),
});

/** `InstallApplication`: the device has accepted it, or refuses. */
/** The kind of commands of in-house apps. */
export const IN_HOUSE = "apple_in_house_app";

export const storeAppCommand = appleCommandKind({
  name: "apple_store_app",
  title: "store app",
  ended: afterCommand,
});

/** The device has answered the command of a store app or of an in-house app. */
export async function afterCommand(
  inside: Inside,
  operation: Pick<Operation, "id">,
  { state, result }: Ending<AppleAnswer>,
): Promise<void> {
  const { store, clock } = inside;
  const row = await pendingInstall(inside, operation);
  if (!row || state === "cancelled") return;
  if (state !== "answered")
    return endInstall(inside, row, result?.detail || "the device refused to install the app, without a reason");
  await store.storeAppInstalls.update({ where: eq("id", row.id), set: { step: "verify", due_at: clock.iso() } });
  await store.notify(channels.storeApps, "");
}

/** The installation that the operation of a device's command belongs to. */
export async function pendingInstall(
  { store }: Pick<Inside, "store">,
  { id }: Pick<Operation, "id">,
): Promise<InstallRow | null> {
  const command = await store.mdmCommands.get(id);
  if (!command) return null;
  const where = and(eq("command_uuid", command.command_uuid), eq("status", "pending"));
  return store.storeAppInstalls.first({ where });
}

/** `InstalledApplicationList`, for all apps that the device installs. */
export const storeAppVerification = appleCommandKind({
  name: "apple_store_app_verification",
  title: "verification of store apps",
  async ended(inside, operation, { state }) {
    if (state === "cancelled") return;
    const answer = state === "answered" ? await answerOf(inside, operation) : null;
    const installed = new Set(
      (answer === null ? [] : dictsIn(answer, "InstalledApplicationList"))
        .filter(({ Installing }) => Installing !== true)
        .map((app) => stringIn(app, "Identifier")),
    );
    for (const row of await verified(inside, operation.host_id)) {
      const title = (await inside.store.softwareTitles.get(row.title_id))!;
      if (installed.has(title.bundle_identifier)) await endInstall(inside, row, "");
      else await waitOrFail(inside, row);
    }
  },
});

const verified = ({ store }: Pick<Inside, "store">, hostId: number): Promise<InstallRow[]> =>
  store.storeAppInstalls.list({
    where: and(eq("host_id", hostId), eq("status", "pending"), eq("step", "verify"), not(isNull("verify_until"))),
  });

async function waitOrFail(inside: Inside, row: InstallRow): Promise<void> {
  const { store, clock } = inside;
  if (clock.iso() >= row.verify_until!) return endInstall(inside, row, "the device did not install the app in time");
  const set = { due_at: isoAt(clock.now() + ASKED_EVERY) };
  await store.storeAppInstalls.update({ where: eq("id", row.id), set });
}

/** Asks which apps the device has installed, if that is due. Under the lock of the host's operations. */
export async function verifyDue(inside: Context, hostId: number): Promise<void> {
  const { store, clock, settings } = inside;
  const isDue = and(eq("host_id", hostId), eq("status", "pending"), eq("step", "verify"), lte("due_at", clock.iso()));
  const rows = await store.storeAppInstalls.list({ where: isDue });
  if (rows.length === 0) return;
  const open = await openOperations(store, [hostId], APPLE_LANE);
  const isAsked = open.some(({ kind }) => kind === storeAppVerification.name);
  for (const row of rows)
    await store.storeAppInstalls.update({
      where: eq("id", row.id),
      set: {
        verify_until: row.verify_until ?? isoAt(clock.now() + settings.vpp_verify_timeout),
        due_at: isoAt(clock.now() + ASKED_EVERY),
      },
    });
  // A device that is away is not asked twice.
  if (isAsked) return;
  const titles = await store.softwareTitles.getMany(rows.map(({ title_id }) => title_id));
  const Identifiers = titles.map(({ bundle_identifier }) => bundle_identifier);
  await sendAppleCommands(inside, storeAppVerification, [
    { hostId, command: { RequestType: "InstalledApplicationList", Identifiers } },
  ]);
}

export const storeAppListener: AppleDeviceListener = {
  async reset(inside, { host_id, state }) {
    const { store } = inside;
    await dropOperations(inside, [host_id], { lane: STORE_LANE });
    await store.storeAppInstalls.delete(and(eq("host_id", host_id), eq("status", "pending")));
    if (state === "removed") await releaseLicenses(inside, eq("host_id", host_id));
  },
  /** The device that has just accepted an app is still connected. */
  async answered(inside, { host_id }, kind) {
    if ([storeAppCommand.name, storeAppVerification.name, IN_HOUSE].includes(kind)) await verifyDue(inside, host_id);
  },
};
