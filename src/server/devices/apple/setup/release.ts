// Releases devices that wait in their setup assistant (`AwaitingConfiguration`), after everything that comes first.

import { operationLock } from "../../../hosts/operations/queue.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import { eq, isNull } from "../../../platform/store/query.ts";
import { deviceOfHost, endWaiting } from "../channel/devices.ts";
import type { AppleDeviceListener, Enrollment } from "../channel/listeners.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { setupSettings } from "./settings.ts";
import { appleSetupSteps } from "./steps.ts";

/** A device does not wait longer than this, whatever has not ended. */
export const MAX_WAIT = minutes(30);

/** Sent when nothing else has to come first, so it does not wait for what is still queued. */
export const releaseCommand = appleCommandKind({
  name: "apple_device_configured",
  title: "end of the setup",
  priority: 1,
  async ended({ store }, { host_id }, { state }) {
    await store.appleSetups.delete(eq("id", host_id));
    if (state === "answered") await endWaiting(store, host_id);
  },
});

/** The device begins to wait. In the transaction in which it enrolls. */
async function startSetup(inside: Context, { host_id }: Pick<Enrollment, "host_id">): Promise<void> {
  const { store, clock } = inside;
  const due_at = isoAt(clock.now() + MAX_WAIT);
  const row = { id: host_id, started_at: clock.iso(), due_at, done: [], begun: null, released_at: null };
  await store.appleSetups.upsert([row], { on: ["id"] });
  await continueSetup(inside, host_id);
}

/**
 * Begins the next steps of a device that waits, and releases it after the last one. What was done is in its row, so any
 * server can continue at any time. In the caller's transaction.
 */
export async function continueSetup(inside: Context, hostId: number): Promise<void> {
  const { store, clock, extensions } = inside;
  const setup = await store.appleSetups.get(hostId);
  if (!setup || setup.released_at !== null) return;
  const device = await deviceOfHost(store, hostId);
  // Released by other means, such as a command of an administrator.
  if (!device?.awaiting_configuration) return void (await store.appleSetups.delete(eq("id", hostId)));
  const isOver = setup.due_at <= clock.iso();
  const done = [...setup.done];
  let { begun } = setup;
  for (const step of extensions.of(appleSetupSteps)) {
    if (done.includes(step.name)) continue;
    if (begun !== step.name) await step.begin?.(inside, device);
    begun = step.name;
    if (!isOver && !(await step.isDone(inside, device)))
      return void (await store.appleSetups.update({ where: eq("id", hostId), set: { done, begun } }));
    done.push(step.name);
  }
  await release(inside, hostId, { done, begun });
}

/** The device does not wait for what has not ended. In the caller's transaction; `continueSetup` releases it. */
export async function endSetupWait({ store, clock }: Pick<Context, "store" | "clock">, hostId: number): Promise<void> {
  await store.appleSetups.update({ where: eq("id", hostId), set: { due_at: clock.iso() } });
}

async function release(
  inside: Context,
  hostId: number,
  state: { readonly done: readonly string[]; readonly begun: string | null },
): Promise<void> {
  const { store, clock } = inside;
  const host = await store.hosts.get(hostId);
  const { enable_release_device_manually: isManual } = await setupSettings(inside, host?.team_id ?? null);
  if (isManual) return void (await store.appleSetups.delete(eq("id", hostId)));
  await store.appleSetups.update({ where: eq("id", hostId), set: { ...state, released_at: clock.iso() } });
  await sendAppleCommands(inside, releaseCommand, [{ hostId, command: { RequestType: "DeviceConfigured" } }]);
}

export const setupListener: AppleDeviceListener = {
  async enrolled(inside, device) {
    if (device.awaiting_configuration) await startSetup(inside, device);
  },
  async answered(inside, { host_id, awaiting_configuration: isWaiting }) {
    if (isWaiting) await continueSetup(inside, host_id);
  },
  async reset({ store }, { host_id }) {
    await store.appleSetups.delete(eq("id", host_id));
  },
};

/** Continues what no answer of a device continues: profiles that could not be sent, and waits that are over. */
export async function continueSetups(services: Services, signal: AbortSignal): Promise<void> {
  const ctx = serviceContext(services, "setup");
  for await (const rows of ctx.store.appleSetups.pages({ where: isNull("released_at") }, 100))
    for (const { id } of rows) {
      if (signal.aborted) return;
      await ctx.store.tx((store) => continueSetup(within(ctx, store), id), operationLock(id));
    }
}
