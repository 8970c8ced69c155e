// Host identities: certificates with which managed agents sign their requests. Many know an enroll secret, so a host that
// has an identity is reached only by requests that are signed with it.

import { at, oidOf, readDer, stringOf } from "../../../pki/der.ts";
import { readSignature, type SignedRequest, verifySignature } from "../../../pki/http-signature.ts";
import type { CertificateRequest } from "../../../pki/request.ts";
import { countForSecret } from "../../hosts/enrollment/new-hosts-rate.ts";
import { checkEnrollSecret } from "../../hosts/enrollment/secret-check.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { authenticationRequired, limitExceeded } from "../../platform/core/errors.ts";
import { limit } from "../../platform/core/limits.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, isNull, oneOf, type Predicate } from "../../platform/store/query.ts";
import { findEnrollSecrets } from "../../settings/enroll-secrets/service.ts";
import { dropUnusedIdentities, type Identity, namedIdentity } from "../device-ca/identities.ts";
import { IssueRefused, type Issuing, type Origin } from "../device-ca/issue.ts";

const HOST_IDENTITY = "host_identity";
export const identityUuid = limit({
  what: "UUID in the certificate request of a managed agent",
  max: 255,
  unit: "characters",
  beyond: "The request is refused.",
});

/** Who gets an identity: whoever knows an enroll secret or token, for the hardware UUID that is the common name of the request. */
export const issuing = (ctx: Context): Issuing => ({
  acceptsEllipticKeys: true,
  mayRenew: ({ purpose }) => purpose === HOST_IDENTITY,
  renewedBy: async (request) => {
    const identity = await signer(ctx);
    const isSame = identity?.hardware_uuid?.toLowerCase() === uuidOf(request)?.toLowerCase();
    return identity && identity.host_id !== null && isSame ? identity : null;
  },
  admit: async ({ challenge }) => {
    const checked = await checkEnrollSecret(ctx, challenge, ctx);
    if ("teamId" in checked) return countForSecret(ctx, "device identities", checked.secretHash);
    throw checked.wait > 0 ? limitExceeded(checked.wait) : new IssueRefused("the enroll secret is unknown");
  },
  lockOf: (request) => `host identity ${uuidOf(request)?.toLowerCase() ?? ""}`,
  originOf: (tx, request) => originOf(ctx, tx, request),
});

async function originOf({ clock }: Context, tx: ServerTx, request: CertificateRequest): Promise<Origin | null> {
  const [secret] = await findEnrollSecrets({ store: tx, clock }, [request.challenge ?? ""]);
  if (!secret) return null;
  const uuid = uuidOf(request);
  if (uuid === null) throw new IssueRefused("the common name is not the hardware UUID of a machine");
  // An identity that nothing has used is worth nothing any more: its machine asks for another one.
  await dropUnusedIdentities(tx, { purpose: HOST_IDENTITY, hardware_uuid: uuid });
  return {
    purpose: HOST_IDENTITY,
    platform: null,
    team_id: secret.team_id,
    facts: {},
    hardware_serial: null,
    hardware_uuid: uuid,
    host_id: null,
  };
}

const COMMON_NAME = "2.5.4.3";

function uuidOf({ subject }: Pick<CertificateRequest, "subject">): string | null {
  const fields = readDer(subject).children.flatMap(({ children }) => children);
  const names = fields
    .filter((field) => oidOf(at(field, 0)) === COMMON_NAME)
    .map((field) => stringOf(at(field, 1)).trim());
  const [uuid] = names;
  return names.length === 1 && uuid !== undefined && /^[\x21-\x7e]+$/.test(uuid) && uuid.length <= identityUuid.max
    ? uuid
    : null;
}

/** Clocks of machines may differ by this much; a repeated request is accepted for as long. */
export const TOLERANCE = minutes(5);

/** The parts of a request that are needed to verify its signature. */
export type SignedContext = Pick<Context, "headers" | "requested" | "clock" | "store" | "running">;

/**
 * The identity that has signed this request. Null: it is not signed. 401 for a signature that is wrong or too old, or that
 * leaves out a part of the request.
 */
export async function signer(ctx: SignedContext): Promise<Identity | null> {
  const { headers, requested } = ctx;
  if (!headers || !requested || headers.get("signature-input") === null) return null;
  const request: SignedRequest = { ...requested, header: (name) => headers.get(name) };
  const signature = readSignature(request);
  if (signature === null || !isComplete(request, signature.components)) throw authenticationRequired();
  if (signature.created === null || Math.abs(signature.created * 1000 - ctx.clock.now()) > TOLERANCE)
    throw authenticationRequired();
  const identity = await namedIdentity(ctx, signature.keyId);
  if (identity === null || identity.purpose !== HOST_IDENTITY) throw authenticationRequired();
  if (!verifySignature(request, signature, identity.publicKey)) throw authenticationRequired();
  return identity;
}

/** 401 unless the request is signed with the identity of this host: without it, a key may be a copy. */
export async function checkSigned(ctx: SignedContext, hostId: number): Promise<void> {
  if ((await signer(ctx))?.host_id !== hostId) throw authenticationRequired();
}

/** The reader of bodies compares them with their digest, if that has SHA-256 and the body is not compressed. */
function isComplete({ query, header }: SignedRequest, components: readonly string[]): boolean {
  const has = (name: string) => components.includes(name);
  const isDigested =
    has("content-digest") && /sha-256=:/.test(header("content-digest") ?? "") && header("content-encoding") === null;
  return has("@method") && has("@path") && (query === "" || has("@query")) && isDigested;
}

/** Valid identities of these hosts. */
const ofHosts = (hostIds: readonly number[], now: string): Predicate =>
  and(oneOf("host_id", hostIds), eq("purpose", HOST_IDENTITY), isNull("revoked_at"), gt("not_valid_after", now));

export async function hostsWithIdentity(
  { deviceIdentities }: Pick<ServerTx, "deviceIdentities">,
  hostIds: readonly number[],
  now: string,
): Promise<ReadonlySet<number>> {
  if (hostIds.length === 0) return new Set();
  const rows = await deviceIdentities.pick(["host_id"], { where: ofHosts(hostIds, now) });
  return new Set(rows.flatMap(({ host_id }) => host_id ?? []));
}
