// Decides whether a SCEP request gets a certificate, and issues it.

import { createHash, randomBytes } from "node:crypto";
import { type Element, element } from "../../../pki/der.ts";
import { issueLeaf } from "../../../pki/issue.ts";
import type { CertificateRequest } from "../../../pki/request.ts";
import { messageTypes, type ReceivedRequest } from "../../../pki/scep.ts";
import { type Certificate, curveOf, isRsaOf, readCertificate } from "../../../pki/x509.ts";
import { days, isoAt, minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { grant, hostLimit, type LimitServices } from "../../platform/host-limits/usage.ts";
import type { LockName } from "../../platform/store/locks.ts";
import { eq } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import type { InsertOf, RowOf } from "../../platform/store/table.ts";
import type { DeviceCa } from "./ca.ts";
import { takeChallenge } from "./challenges.ts";
import { fingerprintOf, type Identity, issuingIdentity, verifyIdentity } from "./identities.ts";
import type { deviceIdentities } from "./tables.ts";

type IdentityRow = RowOf<typeof deviceIdentities>;

const LIFETIME = days(365);
/** For clocks of devices that are slow. */
const LEEWAY = minutes(10);
/** How long a repeated request gets the same certificate. */
const REPEATED = days(1);
const KEY_BITS = { least: 2048, most: 8192 } as const;
export const certificateSubject = limit({
  what: "subject of a certificate request of a device",
  max: 2048,
  unit: "bytes",
  beyond: "The request is refused.",
});
export const certificateNames = limit({
  what: "names in a certificate request of a device",
  max: 10,
  unit: "entries",
  beyond: "The rest is left out of the certificate.",
});
const FAIL_FAST = { failFast: true };

/** The request gets no certificate. The text is for the log only: replies to all refusals are alike. */
export class IssueRefused extends Error {}

/** A request that was opened, and whose signatures are correct. */
export interface OpenedRequest {
  readonly received: ReceivedRequest;
  readonly request: CertificateRequest;
  /** The request in DER. */
  readonly der: Buffer;
}

/** Who gets a certificate from a SCEP server, besides those who renew theirs. */
export interface Issuing {
  /** Whether keys may be elliptic. Devices whose protocol defines RSA keys get no others. */
  readonly acceptsEllipticKeys?: true;
  /** Whether an identity of this kind may renew itself here. */
  mayRenew(identity: Pick<Identity, "purpose">): boolean;
  /**
   * The identity that has signed the HTTP request. SCEP encrypts its replies to the signer of the message, which must have
   * an RSA key (RFC 8894, 3.1), so identities with other keys cannot sign the message.
   */
  renewedBy?(request: CertificateRequest): Promise<Identity | null>;
  /** Checks a request that is no renewal, before anything is written. May throw. */
  admit?(request: CertificateRequest): Promise<void>;
  /** Serializes requests that concern each other. */
  lockOf?(request: CertificateRequest): LockName;
  /**
   * What the new identity is for; null: the challenge allows nothing. Called in the transaction; may throw
   * `IssueRefused`.
   */
  originOf(tx: ServerTx, request: CertificateRequest, now: string): Promise<Origin | null>;
}

/** A challenge allows one certificate. */
export const byChallenge: Issuing = { mayRenew: () => true, originOf: ofChallenge };

/** The certificate for the request, in DER. Throws `IssueRefused`. */
export async function certify(
  ctx: Context,
  ca: DeviceCa,
  { received, request, der }: OpenedRequest,
  issuing: Issuing,
): Promise<Buffer> {
  const key = tokenHash(`${received.transaction.id}\n${createHash("sha256").update(der).digest("hex")}`);
  // Whoever has no identity yet signs with a certificate that this CA has not issued: it is not looked for.
  const isIdentity = received.signer.issuer.equals(ca.certificate.subject);
  // A challenge in it can be used once, so that a repeated request is noticed by that.
  const isNoticed = issuing === byChallenge && !isIdentity;
  const earlier = isNoticed ? null : await ofTransaction(ctx.store, key);
  if (earlier && isRepeated(ctx, earlier)) return certificateOf(earlier);
  checkRequest(request, issuing.acceptsEllipticKeys);
  const signer = isIdentity ? await renewedBy(ctx, received, request) : ((await issuing.renewedBy?.(request)) ?? null);
  const renewed = signer && issuing.mayRenew(signer) ? signer : null;
  if (!renewed && received.type === messageTypes.renewalReq) throw new IssueRefused("not signed by a valid identity");
  if (!renewed) await issuing.admit?.(request);
  const certificate = make(ctx, ca, request, key);
  const lock = issuing.lockOf?.(request);
  let issued: IdentityRow | null = null;
  const issue = () =>
    ctx.store.tx(
      async (tx) => {
        issued = null;
        const from = renewed ? ofRenewal(renewed) : await issuing.originOf(tx, request, ctx.clock.iso());
        // Without a valid challenge this may still be a repeated request whose first was just being processed.
        if (!from) return (await repeated(ctx, tx, key)) ?? refuse("the challenge is unknown, used or expired");
        await countCertificate({ ...ctx, store: tx }, from.host_id);
        if (earlier) await tx.deviceIdentities.update({ where: eq("id", earlier.id), set: { transaction_key: null } });
        issued = await tx.deviceIdentities.insert({ ...certificate.row, ...from });
        return certificate.certificate;
      },
      lock === undefined ? FAIL_FAST : { ...FAIL_FAST, lock },
    );
  let answer = certificate.certificate;
  try {
    await issuingIdentity(ctx, certificate.row, async () => {
      answer = await issue();
      return issued && { ...issued, publicKey: request.publicKey };
    });
    return answer;
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    return (await repeated(ctx, ctx.store, key)) ?? refuse("the same request at the same time");
  }
}

/** Whoever has an identity can renew it, which adds one. */
export const HOST_CERTIFICATES = hostLimit("device_certificates", {
  what: "certificates that a known host gets from the authority of this server by SCEP: renewals, and those for conditional access",
  max: 50,
  unit: "entries",
  period: days(1),
  beyond: "The request is refused.",
});

async function countCertificate(inside: LimitServices, hostId: number | null | undefined): Promise<void> {
  if (hostId == null) return;
  const granted = await grant(inside, HOST_CERTIFICATES, new Map([[hostId, 1]]));
  if (granted.get(hostId) !== 1) throw new IssueRefused("the host has had too many certificates within a day");
}

const refuse = (reason: string): never => {
  throw new IssueRefused(reason);
};

/** The certificate that the same request got within the last day. */
async function repeated(ctx: Pick<Context, "clock">, store: ServerTx, key: string): Promise<Buffer | null> {
  const row = await ofTransaction(store, key);
  return row && isRepeated(ctx, row) ? certificateOf(row) : null;
}

const ofTransaction = (store: ServerTx, key: string): Promise<IdentityRow | null> =>
  store.deviceIdentities.first({ where: eq("transaction_key", key) });

const isRepeated = ({ clock }: Pick<Context, "clock">, { revoked_at, created_at }: IdentityRow): boolean =>
  revoked_at === null && created_at > isoAt(clock.now() - REPEATED);

const certificateOf = ({ certificate }: IdentityRow): Buffer => Buffer.from(certificate, "base64");

/** The identity that signed the request, if it may be renewed: valid, of a known host, with the same subject. */
async function renewedBy(
  ctx: Context,
  { signer }: ReceivedRequest,
  request: CertificateRequest,
): Promise<Identity | null> {
  const identity = await verifyIdentity(ctx, signer.der);
  return identity && identity.host_id !== null && signer.subject.equals(request.subject) ? identity : null;
}

export type Origin = Pick<
  InsertOf<typeof deviceIdentities>,
  "purpose" | "platform" | "team_id" | "facts" | "hardware_serial" | "hardware_uuid" | "host_id" | "renews"
>;

const ofRenewal = ({ serial, purpose, platform, team_id, facts, ...rest }: Identity): Origin => {
  const { hardware_serial, hardware_uuid, host_id } = rest;
  return { purpose, platform, team_id, facts, hardware_serial, hardware_uuid, host_id, renews: serial };
};

async function ofChallenge(tx: ServerTx, { challenge }: CertificateRequest, now: string): Promise<Origin | null> {
  const row = await takeChallenge(tx, challenge ?? "", now);
  if (!row) return null;
  const { purpose, platform, team_id, facts, hardware_serial, hardware_uuid, host_id } = row;
  return { purpose, platform, team_id, facts, hardware_serial, hardware_uuid, host_id };
}

type Asking = Pick<CertificateRequest, "publicKey" | "subject" | "spki" | "names">;

/** Issues an identity to a device whose protocol is not SCEP, in the caller's transaction. Throws `IssueRefused`. */
export async function issueIdentity(
  inside: Pick<Context, "store" | "clock">,
  ca: DeviceCa,
  request: Asking,
  origin: Origin,
): Promise<{ readonly id: number; readonly certificate: Buffer }> {
  checkRequest(request);
  const { certificate, row } = make(inside, ca, request, null);
  const { id } = await inside.store.deviceIdentities.insert({ ...origin, ...row });
  return { id, certificate };
}

function checkRequest({ publicKey, subject }: Asking, acceptsEllipticKeys = false): void {
  const isElliptic = acceptsEllipticKeys && curveOf(publicKey) !== null;
  if (!isElliptic && !isRsaOf(publicKey, KEY_BITS.least, KEY_BITS.most))
    throw new IssueRefused("the key is too small or too large, or of a kind that is not accepted");
  if (subject.length > certificateSubject.max) throw new IssueRefused("the subject is too long");
}

/** Only the key, the subject and checked alternative names of the request are used. */
function make({ clock }: Pick<Context, "clock">, ca: DeviceCa, request: Asking, transactionKey: string | null) {
  const serial = randomBytes(16);
  serial[0]! &= 0x7f;
  serial[0]! |= 0x40;
  const from = clock.now() - LEEWAY;
  const until = Math.min(clock.now() + LIFETIME, Date.parse(ca.certificate.parsed.validTo));
  const { subject, spki } = request;
  const names = request.names.slice(0, certificateNames.max).flatMap(readableName);
  const certificate = issueLeaf({ serial, subject, spki, names, from, until }, ca);
  const { parsed } = readBack(certificate);
  const row: Omit<IdentityRow, "id" | "revision" | keyof Origin> = {
    created_at: clock.iso(),
    serial: serial.toString("hex"),
    fingerprint: fingerprintOf(certificate),
    certificate: certificate.toString("base64"),
    subject: parsed.subject ?? "",
    not_valid_before: isoAt(Date.parse(parsed.validFrom)),
    not_valid_after: isoAt(Date.parse(parsed.validTo)),
    revoked_at: null,
    transaction_key: transactionKey,
  };
  return { certificate, row };
}

/** Whatever the subject contains, what is issued can be read again. */
function readBack(certificate: Buffer): Certificate {
  try {
    return readCertificate(certificate);
  } catch {
    throw new IssueRefused("no valid certificate can have this subject");
  }
}

/** Mail addresses, host names and URIs of readable characters; other names are left out. */
function readableName({ tag, content }: Element): Buffer[] {
  const isKnown = tag === 0x81 || tag === 0x82 || tag === 0x86;
  return isKnown && content.length <= 255 && /^[\x21-\x7e]+$/.test(content.toString("latin1"))
    ? [element(tag, content)]
    : [];
}
