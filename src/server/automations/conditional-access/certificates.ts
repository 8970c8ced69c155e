// Who gets a certificate for conditional access: hosts that know a global enroll secret. It is known to many, so it is not
// enough to replace the certificate of a host that has one, and a certificate counts only once the host itself, through
// its agent or its device management, has reported that it has it.

import { createHash } from "node:crypto";
import type { CertificateRequest } from "../../../pki/request.ts";
import { type Identity, revokeIdentities } from "../../certificates/device-ca/identities.ts";
import { IssueRefused, type Issuing, type Origin } from "../../certificates/device-ca/issue.ts";
import { checkEnrollSecret } from "../../hosts/enrollment/secret-check.ts";
import type { CertificateInventory } from "../../hosts/hosts/details.ts";
import type { Context } from "../../platform/core/context.ts";
import { limitExceeded } from "../../platform/core/errors.ts";
import { limit } from "../../platform/core/limits.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, isNull, oneOf, same } from "../../platform/store/query.ts";
import { isUsable } from "../../settings/enroll-secrets/service.ts";
import { compareDevices } from "./compliance/inventory.ts";

/** The purpose of identities for conditional access. */
export const CONDITIONAL_ACCESS = "conditional_access";

const URI = 0x86;
/** The alternative name in the profile of this server: the device fills in its hardware UUID. */
export const HARDWARE_URI = "urn:device:apple:uuid:";
const HARDWARE = /^urn:(?:device:apple:)?uuid:([0-9a-z-]{1,64})$/i;

export const issuing = (ctx: Context): Issuing => ({
  // An identity of another purpose, which its own server would renew, is not accepted here.
  // Renewing an unconfirmed certificate gains nothing: the new one has to be reported too.
  mayRenew: ({ purpose }) => purpose === CONDITIONAL_ACCESS,
  admit: async ({ challenge }) => {
    // With the limit of all attempts with secrets.
    const checked = await checkEnrollSecret(ctx, challenge, ctx);
    if ("teamId" in checked) return;
    throw checked.wait > 0 ? limitExceeded(checked.wait) : new IssueRefused("the enroll secret is unknown");
  },
  lockOf: (request) => `conditional access certificate ${hardwareOf(request)?.toLowerCase() ?? ""}`,
  originOf: (tx, request, now) => originOf(ctx, tx, request, now),
});

function hardwareOf({ names }: CertificateRequest): string | null {
  const hardware = names
    .filter(({ tag }) => tag === URI)
    .flatMap(({ content }) => HARDWARE.exec(content.toString("latin1"))?.[1] ?? []);
  return hardware.length === 1 ? hardware[0]! : null;
}

async function originOf(ctx: Context, tx: ServerTx, request: CertificateRequest, now: string): Promise<Origin | null> {
  const isSecret = and(eq("secret_hash", tokenHash(request.challenge ?? "")), eq("team_id", null), isUsable(now));
  if ((await tx.enrollSecrets.first({ where: isSecret })) === null) return null;
  const uuid = hardwareOf(request);
  if (uuid === null) throw new IssueRefused("the request does not name one device");
  const [host, ...others] = await tx.hosts.list({ where: same("uuid", uuid), limit: 2 });
  if (!host || others.length > 0) throw new IssueRefused("the device is not one known host");
  const valid = await validOf(tx, [host.id], now);
  const current = valid.filter(({ created_at }) => created_at >= host.last_enrolled_at);
  const installed = await installedOf(tx, host.id);
  if (current.some((identity) => installed.has(sha1Of(identity))))
    throw new IssueRefused("the host has a valid certificate since it enrolled");
  // Whoever enrolled the host again has its trust now, and nobody else. Of those that the host has not confirmed, a few
  // remain: the host's own may be among them.
  const unconfirmed = current.toSorted((a, b) => b.id - a.id).slice(0, unconfirmedCertificates.max - 1);
  const gone = valid.filter((identity) => !unconfirmed.includes(identity)).map(({ id }) => id);
  if (gone.length > 0) await revokeIdentities({ store: tx, clock: ctx.clock }, gone);
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

/** Valid certificates of a host that it has not reported. Further ones replace the oldest. */
export const unconfirmedCertificates = limit({
  what: "certificates for conditional access that a host has not reported",
  max: 10,
  unit: "entries",
  per: "host",
  beyond: "The oldest are revoked.",
});

const sha1Of = ({ certificate }: { readonly certificate: string }): string =>
  createHash("sha1").update(Buffer.from(certificate, "base64")).digest("hex");

/** SHA-1 of the certificates that the host has reported, as inventories name certificates. */
async function installedOf(tx: Pick<ServerTx, "hostDetails">, hostId: number): Promise<ReadonlySet<string>> {
  const details = await tx.hostDetails.get(hostId);
  const certificates = (details?.certificates ?? []) as readonly CertificateInventory[];
  return new Set(certificates.map(({ sha1 }) => sha1.toLowerCase()));
}

/** Whether the host has reported this certificate, or the one that it renews, which it replaces in the meantime. */
export async function isConfirmed(
  tx: Pick<ServerTx, "hostDetails" | "deviceIdentities">,
  hostId: number,
  { serial, renews }: Pick<Identity, "serial" | "renews">,
): Promise<boolean> {
  const serials = renews === null ? [serial] : [serial, renews];
  const where = and(oneOf("serial", serials), eq("host_id", hostId), eq("purpose", CONDITIONAL_ACCESS));
  const [rows, installed] = await Promise.all([
    tx.deviceIdentities.pick(["certificate"], { where }),
    installedOf(tx, hostId),
  ]);
  return rows.some((row) => installed.has(sha1Of(row)));
}

const validOf = (tx: ServerTx, hostIds: readonly number[], now: string) =>
  tx.deviceIdentities.list({
    where: and(
      oneOf("host_id", hostIds),
      eq("purpose", CONDITIONAL_ACCESS),
      isNull("revoked_at"),
      gt("not_valid_after", now),
    ),
  });

/** Ends what hosts have for signing in. Call this in a transaction. */
export async function endAccess(
  { store, clock }: Pick<Context, "store" | "clock">,
  hostIds: readonly number[],
): Promise<void> {
  await store.conditionalAccessBypasses.delete(oneOf("id", hostIds));
  await compareDevices(store, hostIds, clock.iso());
  const valid = await validOf(store, hostIds, clock.iso());
  if (valid.length === 0) return;
  await revokeIdentities(
    { store, clock },
    valid.map(({ id }) => id),
  );
}
