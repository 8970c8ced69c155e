// Who gets a certificate for conditional access: hosts that know a global enroll secret. It is known to many, so it is not
// enough to replace the certificate of a host that has one.
import type { CertificateRequest } from "../../pki/request.ts";
import type { Context } from "../core/context.ts";
import { tokenHash } from "../core/random.ts";
import type { ServerTx } from "../core/tables.ts";
import { revokeIdentities } from "../device-ca/identities.ts";
import { type Issuing, type Origin, Refused } from "../device-ca/issue.ts";
import { and, eq, gt, isNull, same } from "../store/query.ts";

/** The purpose of identities for conditional access. */
export const CONDITIONAL_ACCESS = "conditional_access";

const URI = 0x86;
/** The alternative name in the profile of this server: the device fills in its hardware UUID. */
export const HARDWARE_URI = "urn:device:apple:uuid:";
const HARDWARE = /^urn:(?:device:apple:)?uuid:([0-9a-z-]{1,64})$/i;

export const issuing = (ctx: Context): Issuing => ({
  // An identity of another purpose, which its own server would renew, is not accepted here.
  mayRenew: ({ purpose }) => purpose === CONDITIONAL_ACCESS,
  lockOf: (request) => `conditional access certificate ${hardwareOf(request)?.toLowerCase() ?? ""}`,
  originOf: (tx, request, now) => originOf(ctx, tx, request, now),
});

function hardwareOf({ names }: CertificateRequest): string | null {
  const found = names
    .filter(({ tag }) => tag === URI)
    .flatMap(({ content }) => HARDWARE.exec(content.toString("latin1"))?.[1] ?? []);
  return found.length === 1 ? found[0]! : null;
}

async function originOf(ctx: Context, tx: ServerTx, request: CertificateRequest, now: string): Promise<Origin | null> {
  const isSecret = and(eq("secret_hash", tokenHash(request.challenge ?? "")), eq("team_id", null));
  if ((await tx.enrollSecrets.first({ where: isSecret })) === null) return null;
  const uuid = hardwareOf(request);
  if (uuid === null) throw new Refused("the request does not name one device");
  const [host, ...others] = await tx.hosts.list({ where: same("uuid", uuid), limit: 2 });
  if (!host || others.length > 0) throw new Refused("the device is not one known host");
  const own = and(
    eq("host_id", host.id),
    eq("purpose", CONDITIONAL_ACCESS),
    isNull("revoked_at"),
    gt("not_valid_after", now),
  );
  const valid = await tx.deviceIdentities.list({ where: own });
  if (valid.some(({ created_at }) => created_at >= host.last_enrolled_at))
    throw new Refused("the host has a valid certificate since it enrolled");
  // Whoever enrolled the host anew has its trust now, and nobody else.
  if (valid.length > 0)
    await revokeIdentities(
      { store: tx, clock: ctx.clock },
      valid.map(({ id }) => id),
    );
  return {
    purpose: CONDITIONAL_ACCESS,
    platform: host.platform,
    team_id: host.team_id,
    facts: {},
    hardware_serial: null,
    hardware_uuid: host.uuid,
    host_id: host.id,
  };
}
