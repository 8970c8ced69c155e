// Software and the script of a device's setup come last: after them the device is released.
import type { SetupItem } from "../../../../api/delivery/setup-results.ts";
import { proceed, restartSetup } from "../../../delivery/setup-experience/progress.ts";
import type { SetupWait } from "../../../delivery/setup-experience/waits.ts";
import type { Context } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { continueSetup } from "./release.ts";
import type { SetupStep } from "./steps.ts";

/** The agent asks for packages and the script, one after the other; store apps need no agent. */
export const softwareStep: SetupStep = {
  name: "software and script",
  begin: (inside, { host_id }) => restartSetup(inside, host_id),
  isDone: (inside, { host_id }) => proceed(inside, host_id),
};

/** Null: the device does not wait, or was released. */
async function waitOf(store: ServerTx, hostId: number) {
  const setup = await store.appleSetups.get(hostId);
  return setup?.released_at === null ? setup : null;
}

const outcomes: Readonly<Record<string, SetupItem["status"]>> = {
  installed: "success",
  ran: "success",
  failed: "failure",
  pending: "pending",
};

export const appleSetupWait: SetupWait = {
  async isHeld(store, hostId) {
    const wait = await waitOf(store, hostId);
    return wait !== null && wait.begun !== softwareStep.name;
  },
  async over(inside: Context, hostId, isForced) {
    const { store, clock } = inside;
    if ((await waitOf(store, hostId)) === null) return;
    if (isForced) await store.appleSetups.update({ where: eq("id", hostId), set: { due_at: clock.iso() } });
    await continueSetup(inside, hostId);
  },
  async shown(store, hostId) {
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
  },
};
