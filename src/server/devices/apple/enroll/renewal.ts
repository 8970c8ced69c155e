// Renewal of identities: devices do not renew them by themselves, so they get their enrollment profile again in time.

import type { Operation } from "../../../hosts/operations/kind.ts";
import { days, hours, isoAt } from "../../../platform/core/clock.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { and, eq, gt, isNull, lt, oneOf } from "../../../platform/store/query.ts";
import { deviceOfHost } from "../channel/devices.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { APPLE_ENROLLMENT, NotAllowed, RENEWS } from "../channel/wire.ts";
import { appleCommandKind, type LateContent } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { enrollmentProfile } from "./profile.ts";

/** Long before their end, because some devices are switched off for months. */
const AHEAD = days(180);
/** A device that has not renewed its identity is asked again after this time. */
const AGAIN = days(7);
/** Devices that are asked in one transaction, and in one run. */
const BATCH_SIZE = 200;
const MAX_RENEWALS_PER_RUN = 2_000;

export const appleRenewal = appleCommandKind({
  name: "apple_identity_renewal",
  title: "renewal of its identity",
  async ended() {
    // The new identity is bound when the device first uses it.
  },
});

/** The enrollment profile with a challenge that only this device can use, made when the device asks for the command. */
const renewalCommand: LateContent = async (ctx, { host_id }: Operation) => {
  const [device, host] = await Promise.all([deviceOfHost(ctx.store, host_id), ctx.store.hosts.get(host_id)]);
  const identity = device?.identity_id == null ? null : await ctx.store.deviceIdentities.get(device.identity_id);
  if (!device || !identity || !host) throw new NotAllowed("the enrollment has ended");
  const Payload = await enrollmentProfile(ctx, {
    team_id: host.team_id,
    host_id,
    ...(identity.hardware_serial === null ? {} : { hardware_serial: identity.hardware_serial }),
    ...(identity.hardware_uuid === null ? {} : { hardware_uuid: identity.hardware_uuid }),
    facts: { kind: identity.facts.kind ?? "manual", [RENEWS]: device.id },
  });
  return { RequestType: "InstallProfile", Payload };
};

export const renewalListener: AppleDeviceListener = { builtLate: { [appleRenewal.name]: renewalCommand } };

export const identityRenewal: Job = {
  name: "apple_identity_renewal",
  every: hours(1),
  async run(services, signal) {
    const { mdm } = await services.config.current();
    if (mdm.enabled_and_configured) await renewIdentities(services, signal);
  },
};

async function renewIdentities(services: Services, signal: AbortSignal): Promise<void> {
  const { store, clock } = services;
  const isDue = and(
    eq("purpose", APPLE_ENROLLMENT),
    isNull("revoked_at"),
    gt("not_valid_after", clock.iso()),
    lt("not_valid_after", isoAt(clock.now() + AHEAD)),
  );
  let count = 0;
  for (let last = 0; count < MAX_RENEWALS_PER_RUN && !signal.aborted; ) {
    const identities = await store.deviceIdentities.pick(["id"], {
      where: and(isDue, gt("id", last)),
      limit: BATCH_SIZE,
    });
    if (identities.length === 0) return;
    last = identities.at(-1)!.id;
    count += await store.tx((tx) =>
      ask(
        within(serviceContext(services), tx),
        identities.map(({ id }) => id),
      ),
    );
  }
}

/** Returns how many devices were asked. */
async function ask(inside: Context, identityIds: readonly number[]): Promise<number> {
  const { store, clock } = inside;
  const devices = await store.appleEnrollments.pick(["host_id"], {
    where: and(oneOf("identity_id", identityIds), eq("is_user", false), eq("state", "enabled")),
  });
  const hostIds = devices.map(({ host_id }) => host_id);
  const isRecent = and(
    oneOf("host_id", hostIds),
    eq("kind", appleRenewal.name),
    gt("created_at", isoAt(clock.now() - AGAIN)),
  );
  const recent = new Set((await store.operations.pick(["host_id"], { where: isRecent })).map(({ host_id }) => host_id));
  const dueIds = hostIds.filter((id) => !recent.has(id));
  const command = { RequestType: "InstallProfile" };
  await sendAppleCommands(
    inside,
    appleRenewal,
    dueIds.map((hostId) => ({ hostId, command })),
  );
  return dueIds.length;
}
