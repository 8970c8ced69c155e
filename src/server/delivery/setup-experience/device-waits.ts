// Devices that wait in their setup assistant: they have to do other things before their software, and are released after
// it.
import type { z } from "zod";
import type { SetupItem, SetupResults } from "../../../api/delivery/setup-results.ts";
import { continueSetup, endSetupWait } from "../../devices/apple/setup/release.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";

/** The step of a device's setup in which its host gets software and the script. */
export const SOFTWARE_STEP = "software and script";

type ShownResults = Pick<
  z.output<typeof SetupResults>,
  "bootstrap_package" | "configuration_profiles" | "account_configuration"
>;

/** Null: the device does not wait, or was released. */
async function waitOf(store: ServerTx, hostId: number) {
  const setup = await store.appleSetups.get(hostId);
  return setup?.released_at === null ? setup : null;
}

/** Whether the host has to do something else before its software. */
export async function isSetupHeld(store: ServerTx, hostId: number): Promise<boolean> {
  const wait = await waitOf(store, hostId);
  return wait !== null && wait.begun !== SOFTWARE_STEP;
}

/**
 * The setup has ended, or the host's agent does not wait for it any longer (`isForced`). Call it in a transaction, under
 * the lock of the host's operations.
 */
export async function continueDevice(inside: Context, hostId: number, isForced: boolean): Promise<void> {
  if ((await waitOf(inside.store, hostId)) === null) return;
  if (isForced) await endSetupWait(inside, hostId);
  await continueSetup(inside, hostId);
}

const outcomes: Readonly<Record<string, SetupItem["status"]>> = {
  installed: "success",
  ran: "success",
  failed: "failure",
  pending: "pending",
};

/** What the reply to an agent says of the steps that come first. */
export async function deviceSteps(store: ServerTx, hostId: number): Promise<ShownResults> {
  if ((await waitOf(store, hostId)) === null) return { configuration_profiles: [] };
  const [bootstrap, profiles, account] = await Promise.all([
    store.hostBootstrap.get(hostId),
    store.hostProfiles.list({ where: and(eq("host_id", hostId), eq("operation_type", "install")) }),
    store.mdmCommands.first({
      where: and(eq("host_id", hostId), eq("request_type", "AccountConfiguration")),
      order: [{ column: "id", direction: "desc" }],
    }),
  ]);
  return {
    ...(bootstrap === null
      ? {}
      : { bootstrap_package: { name: bootstrap.package_name, status: outcomes[bootstrap.status]! } }),
    configuration_profiles: profiles.map(({ profile_uuid, name, status }) => ({
      profile_uuid,
      name,
      status: status ?? "pending",
    })),
    ...(account === null
      ? {}
      : {
          account_configuration: {
            command_uuid: account.command_uuid,
            status: outcomes[account.command_status] ?? "pending",
          },
        }),
  };
}
