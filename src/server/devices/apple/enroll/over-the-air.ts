// Enrollment over the air. First the device says what it is, signed with Apple's certificate, and gets an identity; then
// it says so again, signed with this identity, and gets its enrollment profile.
import { otaEnrollApi } from "../../../../api/devices/apple-enroll.ts";
import { isOfDevice } from "../../../certificates/device-ca/identities.ts";
import { hours } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { forbidden, mdmOff } from "../../../platform/core/errors.ts";
import { proved } from "../../../platform/core/http/strangers.ts";
import { countCall } from "../../../platform/rate-limits/attempts.ts";
import { requireAppleMdm } from "../../gate.ts";
import { deviceUrl } from "../trust/service.ts";
import { BadMachineInfo, type MachineInfo, readMachineInfo, readOwnMachineInfo } from "./machine-info.ts";
import { PROFILES, teamOfSecret } from "./manual.ts";
import { enrollmentProfile, identityProfile, serviceProfile } from "./profile.ts";

/** Identities with this purpose only prove what the device is: with one of them nothing can check in. */
const PURPOSE = "apple_over_the_air";
/** The second step follows the first at once. */
const SECOND_STEP = hours(1);

export async function otaProfile(ctx: Context, secret: string): Promise<Buffer> {
  await requireAppleMdm(ctx);
  await teamOfSecret(ctx, secret);
  const url = await deviceUrl(ctx, `${otaEnrollApi.post.path}?${new URLSearchParams({ enroll_secret: secret })}`);
  if (url === null) throw mdmOff();
  return serviceProfile(ctx, url);
}

export async function otaStep(ctx: Context, secret: string, message: Buffer): Promise<Buffer> {
  await requireAppleMdm(ctx);
  const team_id = await teamOfSecret(ctx, secret);
  try {
    const proof = await readOwnMachineInfo(ctx, message);
    const info = proof === null ? readMachineInfo(ctx, message) : provedInfo(ctx, proof, team_id);
    proved(ctx);
    await countCall(ctx, PROFILES, ctx.address);
    const device = { team_id, hardware_serial: info.serial, hardware_uuid: info.udid };
    return proof === null
      ? await identityProfile(ctx, { ...device, purpose: PURPOSE })
      : await enrollmentProfile(ctx, { ...device, facts: { kind: "manual" } });
  } catch (error) {
    if (!(error instanceof BadMachineInfo)) throw error;
    ctx.log.warn({ address: ctx.address, reason: error.message }, "refused a device that enrolls over the air");
    throw forbidden();
  }
}

type SignedMachineInfo = NonNullable<Awaited<ReturnType<typeof readOwnMachineInfo>>>;

function provedInfo({ clock }: Context, { identity, info }: SignedMachineInfo, teamId: number | null): MachineInfo {
  if (identity.purpose !== PURPOSE) throw new BadMachineInfo("its identity is for something else");
  if (identity.team_id !== teamId) throw new BadMachineInfo("its identity is for another team");
  if (clock.now() - Date.parse(identity.created_at) > SECOND_STEP) throw new BadMachineInfo("its identity is too old");
  if (!isOfDevice(identity, { hardware_serial: info.serial, hardware_uuid: info.udid }))
    throw new BadMachineInfo("its identity is another device's");
  return info;
}
