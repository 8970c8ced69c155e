// Does what is due of the installations of store apps: licenses are assigned, and devices get their commands. Every
// server may do any step; a step belongs to the server that has moved its time.

import { type AppleCommand, sendAppleCommands } from "../../devices/apple/commands/send.ts";
import { operationLock } from "../../hosts/operations/queue.ts";
import { channels } from "../../platform/core/channels.ts";
import { days, isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import { type Context, type Services, serviceContext, within } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { startedPart } from "../../platform/core/running.ts";
import { and, eq, lte } from "../../platform/store/query.ts";
import { installCommand, storeAppCommand, verifyDue } from "./commands.ts";
import { inHouseCommand, isInHouse } from "./in-house.ts";
import { endInstall } from "./installs.ts";
import { isDoneAlready, LicenseServiceError } from "./license-client.ts";
import { CLAIM, giveBack, keepLicense, laterThan } from "./licenses.ts";
import type { InstallRow, StoreAppRow, VppTokenRow } from "./tables.ts";
import { clientOf } from "./tokens.ts";

/** Errors that pass are retried for this long. */
const RETRIED_FOR = days(1);
/** Assignments usually end within seconds. */
const POLLS = 5;
const POLLED_EVERY = seconds(1);
const BATCH_SIZE = 500;

export const storeAppWorker = startedPart("store apps", (services) =>
  startTriggeredTask(
    services,
    { channel: channels.storeApps, least: 100, more: 400, failure: "cannot install store apps; trying again" },
    () => advance(services, new AbortController().signal),
  ),
);

export const storeAppsJob: Job = { name: "store_apps", every: minutes(1), run: advance };

async function advance(services: Services, signal: AbortSignal): Promise<void> {
  const { store, clock } = services;
  const isDue = and(eq("status", "pending"), lte("due_at", clock.iso()));
  for (const row of await store.storeAppInstalls.list({ where: isDue, limit: BATCH_SIZE })) {
    if (signal.aborted) return;
    if (row.step === "verify") await verify(services, row);
    else if (await claim(services, row)) await assign(services, row);
  }
  await giveBack(services, signal);
}

async function claim({ store, clock }: Services, row: InstallRow): Promise<boolean> {
  const isMine = and(eq("id", row.id), eq("status", "pending"), eq("due_at", row.due_at));
  const set = { due_at: isoAt(clock.now() + CLAIM) };
  return (await store.storeAppInstalls.update({ where: isMine, set })) > 0;
}

const verify = (services: Services, { host_id }: InstallRow): Promise<void> =>
  services.store.tx((store) => verifyDue(within(serviceContext(services), store), host_id), operationLock(host_id));

async function assign(services: Services, row: InstallRow): Promise<void> {
  const { store, clock } = services;
  if (isInHouse(row)) return sendInHouse(services, row);
  const app = row.store_app_id === null ? null : await store.storeApps.get(row.store_app_id);
  const token = app?.token_id ? await store.vppTokens.get(app.token_id) : null;
  if (!app || !token) return fail(services, row, "the team no longer offers the app");
  try {
    if (await hasLicense(services, row, app, token)) return await sendCommand(services, row, app);
    await store.storeAppInstalls.update({
      where: and(eq("id", row.id), eq("status", "pending")),
      set: { due_at: isoAt(clock.now() + seconds(5)) },
    });
  } catch (error) {
    if (!(error instanceof LicenseServiceError)) throw error;
    if (isDoneAlready(error)) return sendCommand(services, row, app);
    const isPassing = error.problem === "busy" || error.problem === "unreachable";
    if (!isPassing || clock.now() - Date.parse(row.created_at) > RETRIED_FOR) return fail(services, row, error.message);
    services.log.warn({ install: row.id, problem: error.message }, "a license could not be assigned; trying again");
    await store.storeAppInstalls.update({
      where: and(eq("id", row.id), eq("status", "pending")),
      set: { due_at: laterThan(services, error) },
    });
  }
}

/** Whether the device has a license now. False: the service is still assigning it. */
async function hasLicense(services: Services, row: InstallRow, app: StoreAppRow, token: VppTokenRow): Promise<boolean> {
  const { store, clock } = services;
  const client = clientOf(services, token);
  let event = row.event_id;
  if (event === "") {
    const serial = (await store.hosts.get(row.host_id))?.hardware_serial ?? "";
    const assignment = (await client.assignments(app.adam_id, serial)).find(
      ({ serialNumber }) => serialNumber === serial,
    );
    const asset = await store.vppAssets.first({
      where: and(eq("token_id", token.id), eq("adam_id", app.adam_id), eq("is_device_assignable", true)),
    });
    const pricing_param = assignment?.pricingParam ?? asset?.pricing_param;
    if (pricing_param === undefined)
      throw new LicenseServiceError("license", `${token.location} has no licenses for the app for devices`);
    // Stored first, so that a license is given back even if this server ends now.
    const license = { token_id: token.id, adam_id: app.adam_id, pricing_param, serial, retry_at: clock.iso() };
    await keepLicense(store, { ...license, host_id: row.host_id });
    if (assignment) return true;
    event = await client.associate({ adamId: app.adam_id, pricingParam: pricing_param, serial });
    const set = { step: "event", event_id: event } as const;
    await store.storeAppInstalls.update({ where: eq("id", row.id), set });
  }
  for (let poll = 0; poll < POLLS; poll++) {
    if (poll > 0) await clock.sleep(POLLED_EVERY);
    if (await client.settled(event)) return true;
  }
  return false;
}

const fail = (services: Services, row: InstallRow, detail: string): Promise<void> =>
  services.store.tx(
    (store) => endInstall(within(serviceContext(services), store), row, detail),
    operationLock(row.host_id),
  );

const sendCommand = (services: Services, row: InstallRow, app: StoreAppRow): Promise<void> =>
  send(services, row, { kind: storeAppCommand, command: installCommand(app) });

async function sendInHouse(services: Services, row: InstallRow): Promise<void> {
  const installer = row.installer_id === null ? null : await services.store.softwareInstallers.get(row.installer_id);
  if (installer === null) return fail(services, row, "the team no longer offers the app");
  await send(services, row, { kind: inHouseCommand, command: { RequestType: "InstallApplication" } });
}

interface SentCommand {
  readonly kind: typeof storeAppCommand;
  readonly command: AppleCommand["command"];
}

async function send(services: Services, row: InstallRow, { kind, command }: SentCommand): Promise<void> {
  await services.store.tx(async (store) => {
    const inside: Context = within(serviceContext(services), store);
    const isPending = and(eq("id", row.id), eq("status", "pending"));
    const set = { step: "command", due_at: null } as const;
    // The install may have been cancelled in the meantime.
    if ((await store.storeAppInstalls.update({ where: isPending, set })) === 0) return;
    const title = (await store.softwareTitles.get(row.title_id))!;
    await sendAppleCommands(inside, kind, [{ hostId: row.host_id, name: title.name, command }], row.command_uuid);
  }, operationLock(row.host_id));
}
