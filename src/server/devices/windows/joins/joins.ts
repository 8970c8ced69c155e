// A device that its user has enrolled and the agent on it are one host: that of the agent, which has the device's serial
// number.

import { windowsEnrollApi } from "../../../../api/devices/windows.ts";
import { removeWithCounts } from "../../../checks/host-removal/removal.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { IDP_SOURCE } from "../../../hosts/hosts/emails.ts";
import { lockHosts } from "../../../hosts/hosts/write.ts";
import { haveAgents } from "../../../hosts/managed-agents/rows.ts";
import { hostMdm } from "../../../hosts/mdm-status/tables.ts";
import { operationKinds } from "../../../hosts/operations/kind.ts";
import { lockOperations, openOperations } from "../../../hosts/operations/queue.ts";
import { channels, hostsPayload } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { startTriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { startedPart } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, exists, not, same } from "../../../platform/store/query.ts";
import { isEnrolled, moveEnrollment } from "../channel/devices.ts";
import type { Enrollment, WindowsDeviceListener } from "../channel/listeners.ts";
import { windowsEnrollments } from "../channel/tables.ts";
import { WINDOWS_LANE } from "../commands/kind.ts";
import { recordEnrolled } from "../enroll/record.ts";
import { askForSerial } from "./serial.ts";

const BATCH_SIZE = 500;
/** Serializes joins, so that two devices with one serial number cannot both become one host. */
const JOINING = { lock: "windows-joins" } as const;

const isAlone = and(eq("is_alone", true), isEnrolled, not(eq("serial", "")));

/** Hosts of agents that no enrollment manages: what a device claims never takes one from another device. */
const free = and(
  eq("platform", "windows"),
  haveAgents,
  not(exists(windowsEnrollments, "host_id", isEnrolled)),
  not(exists(hostMdm, "id", eq("connected_to_svc", true))),
);

/** Null if no host, or several, or another device has the serial number: copies of a machine have the same. */
async function hostWithSerial(store: ServerTx, { id, serial }: Enrollment): Promise<HostRow | null> {
  const devices = await store.windowsEnrollments.count(and(isAlone, same("serial", serial), not(eq("id", id))));
  if (devices > 0) return null;
  const withAgent = await store.hosts.list({ where: and(same("hardware_serial", serial), haveAgents), limit: 2 });
  const [host] = withAgent;
  if (!host || withAgent.length > 1) return null;
  return (await store.hosts.count(and(eq("id", host.id), free))) === 1 ? host : null;
}

/** Returns the id of the device's host, which is that of its agent from now on if there is one. */
async function join(ctx: Context, id: number, hostId: number): Promise<number> {
  const enrollment = await ctx.store.windowsEnrollments.first({ where: and(eq("id", id), isAlone) });
  const target = enrollment && (await hostWithSerial(ctx.store, enrollment));
  if (!enrollment || !target || enrollment.host_id === target.id) return hostId;
  return ctx.store.tx(async (store) => {
    await lockOperations(store, [enrollment.host_id, target.id]);
    const device = await store.windowsEnrollments.first({ where: and(eq("id", id), isAlone) });
    const host = device && (await hostWithSerial(store, device));
    if (!device || host?.id !== target.id || device.host_id !== enrollment.host_id) return hostId;
    if (await isBusy(within(ctx, store), device.host_id)) return hostId;
    await becomeHost(within(ctx, store), device, host);
    return host.id;
  }, JOINING);
}

/** Whether somebody has asked something of the device, such as a wipe, that it has not answered. */
async function isBusy({ store, extensions }: Context, hostId: number): Promise<boolean> {
  if ((await store.hostMdm.get(hostId))?.leaving) return true;
  const open = await openOperations(store, [hostId], WINDOWS_LANE);
  return open.some(({ kind }) => extensions.named(operationKinds, kind)?.isHidden !== true);
}

async function becomeHost(inside: Context, device: Enrollment, host: HostRow): Promise<void> {
  const { store } = inside;
  const former = device.host_id;
  const signedIn = and(eq("host_id", former), eq("source", IDP_SOURCE));
  const email = (await store.hostEmails.first({ where: signedIn }))?.email ?? null;
  const enrollment = await moveEnrollment(inside, device, host);
  await recordEnrolled(inside, host, { enrollment, path: windowsEnrollApi.discover.path, email });
  await lockHosts(inside, eq("id", former));
  await removeWithCounts(store, [former]);
  await store.notify(channels.hosts, hostsPayload([host.id]));
  inside.log.info({ host_id: host.id, former_host_id: former }, "a Windows device was joined to the host of its agent");
}

/** Joins every device whose agent has become known. Returns how many. */
async function joinDevices(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "Windows devices");
  let joined = 0;
  for await (const page of ctx.store.windowsEnrollments.pages({ where: isAlone }, BATCH_SIZE, ["id", "host_id"]))
    for (const { id, host_id } of page) {
      if (signal?.aborted) return joined;
      if ((await join(ctx, id, host_id)) !== host_id) joined++;
    }
  return joined;
}

export const joinListener: WindowsDeviceListener = {
  enrolled: askForSerial,
  afterAnswers: async (ctx, { id, host_id, is_alone }) => (is_alone ? join(ctx, id, host_id) : host_id),
};

/** Soon after an agent has enrolled on a host that was not known. */
export const windowsJoins = startedPart("joins of Windows devices", (services) =>
  startTriggeredTask(
    services,
    { channel: channels.windowsHosts, least: 50, more: 200, failure: "cannot join Windows devices; trying again" },
    () => joinDevices(services),
  ),
);

/** Finds hosts whose agent has reported its serial number later. */
export const windowsJoinsJob: Job = {
  name: "windows_joins",
  every: minutes(5),
  async run(services, signal) {
    await joinDevices(services, signal);
  },
};
