// The SCEP proxy for agents, so that hosts need not reach the authority themselves (docs/protocols/certificates.md,
// SCEP proxy). Messages are passed on unchanged. A request needs a challenge that this server issued to the host's
// agent, which is valid for one hour and one PKIOperation, or the address that a profile has given the device, which is
// valid for one.
import type { Content } from "../../../api/bodies.ts";
import { scepProxyApi } from "../../../api/certificates/scep-proxy.ts";
import { type OpenChallenge, openChallenge } from "../../devices/profiles/challenges.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import { ApiError, badRequest, limitExceeded, upstreamFailed } from "../../platform/core/errors.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { sameText, tokenHash } from "../../platform/core/random.ts";
import { part } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { createFailureLimit } from "../../platform/rate-limits/failures.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { textIn } from "../ca/rules.ts";
import { askCa, CaError } from "../ca/upstream.ts";
import type { hostCertificates } from "./tables.ts";

const CHALLENGE_LIFETIME = minutes(60);
const TIMEOUT = 30_000;
const FAILURES_A_MINUTE = 100;

/** Issues a new challenge to the host's agent and invalidates the previous one. Call this in a transaction. */
export async function giveChallenge(
  { store, clock, random }: Pick<Services, "clock" | "random"> & { readonly store: ServerTx },
  hostId: number,
  templateId: number,
): Promise<string> {
  const challenge = random.token(32);
  await store.hostCertificates.update({
    where: and(eq("host_id", hostId), eq("template_id", templateId)),
    set: {
      challenge_hash: tokenHash(challenge),
      challenge_until: new Date(clock.now() + CHALLENGE_LIFETIME).toISOString(),
    },
  });
  return challenge;
}

type Standing = RowOf<typeof hostCertificates>;

/**
 * `host_uuid,gTEMPLATE,ca_name,challenge`, or the uuid of a profile in the place of the template: the destination, and
 * what uses up the challenge. Every mismatch is the same 400.
 */
async function find(ctx: Context, identifier: string): Promise<OpenChallenge> {
  const { store, clock } = ctx;
  const refused = () => badRequest("unknown or used enrolment");
  const [uuid = "", profile = "", caName = "", challenge = "", ...more] = identifier.split(",");
  if (more.length > 0 || uuid === "" || challenge === "") throw refused();
  const templateId = Number(/^g([1-9]\d{0,14})$/.exec(profile)?.[1] ?? 0);
  if (templateId === 0) {
    const asked = { host_uuid: uuid, profile_uuid: profile, ca_name: caName, secret: challenge };
    const found = await openChallenge(ctx, asked);
    if (found === null) throw refused();
    return found;
  }
  const template = await store.certificateTemplates.get(templateId);
  const ca = template ? await store.certificateAuthorities.get(template.certificate_authority_id) : null;
  if (!template || !ca || ca.name !== caName) throw refused();
  const given = tokenHash(challenge);
  // Several hosts may have the same uuid: the challenge identifies the host.
  const hosts = await store.hosts.pick(["id", "team_id"], { where: eq("uuid", uuid), limit: 10 });
  for (const host of hosts.filter(({ team_id }) => team_id === template.team_id)) {
    const row = await store.hostCertificates.first({
      where: and(eq("host_id", host.id), eq("template_id", templateId)),
    });
    if (!row?.challenge_hash || !sameText(row.challenge_hash, given)) continue;
    if (row.status === "delivered" && Date.parse(row.challenge_until ?? "") > clock.now())
      return { url: textIn(ca.settings, "url"), use: () => consume(ctx, row) };
    await startAnew(store, clock.iso(), row);
  }
  throw refused();
}

/**
 * The challenge is used up without a certificate. The template becomes pending again, and the agent gets a new
 * challenge for it.
 */
async function startAnew(store: ServerTx, now: string, row: Standing): Promise<void> {
  const mine = and(eq("id", row.id), eq("challenge_hash", row.challenge_hash));
  const status = row.status === "delivered" ? "pending" : row.status;
  await store.hostCertificates.update({
    where: mine,
    set: { status, challenge_hash: null, challenge_until: null, updated_at: now },
  });
}

async function consume({ store, clock }: Context, row: Standing): Promise<boolean> {
  const taken = await store.hostCertificates.update({
    where: and(eq("id", row.id), eq("challenge_hash", row.challenge_hash)),
    set: { challenge_hash: null, challenge_until: null, updated_at: clock.iso() },
  });
  return taken > 0;
}

/** Challenges that were fetched with the hosts' previous keys can no longer be used to enroll a certificate. */
export async function endChallenges(
  { store, clock }: Pick<Services, "clock"> & { readonly store: ServerTx },
  hostIds: readonly number[],
): Promise<void> {
  await store.hostCertificates.update({
    where: oneOf("host_id", hostIds),
    set: { challenge_hash: null, challenge_until: null, updated_at: clock.iso() },
  });
}

const types: Readonly<Record<string, readonly string[]>> = {
  GetCACaps: ["text/plain"],
  GetCACert: ["application/x-x509-ca-cert", "application/x-x509-ca-ra-cert"],
  PKIOperation: ["application/x-pki-message"],
};

interface Asked {
  readonly identifier: string;
  readonly operation: string;
  /** Base64 from the query of a GET, or the bytes of a POST. */
  readonly message: string | Uint8Array<ArrayBuffer> | null;
}

async function pass(services: Context, { identifier, operation, message }: Asked): Promise<Content> {
  const known = types[operation];
  if (!known) throw badRequest("operation is GetCACaps, GetCACert or PKIOperation", "operation");
  const { url, use } = await find(services, identifier);
  const isMessage = operation === "PKIOperation";
  if (isMessage && (message === null || message.length === 0)) throw badRequest("the message is missing", "message");
  // Of two messages with the same challenge only one is passed on.
  if (isMessage && !(await use())) throw badRequest("unknown or used enrolment");
  const to = new URL(url);
  to.searchParams.set("operation", operation);
  if (typeof message === "string") to.searchParams.set("message", message);
  const asked = await askCa(services, to.href, {
    timeout: TIMEOUT,
    ...(message instanceof Uint8Array
      ? { method: "POST", body: Buffer.from(message), headers: { "content-type": "application/x-pki-message" } }
      : {}),
  }).catch((error: unknown) => {
    if (error instanceof CaError) throw upstreamFailed("the certificate authority did not answer");
    throw error;
  });
  if (asked.status !== 200) throw upstreamFailed(`the certificate authority answered with status ${asked.status}`);
  const type = asked.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  // The content type is always one of the expected ones, so that the reply is never rendered as a page of this
  // server.
  return { content: new Uint8Array(asked.body), type: known.includes(type) ? type : known[0]! };
}

const failures = part("failures of the certificate proxy", (services) =>
  createFailureLimit(services, { scope: "certificate proxy", most: FAILURES_A_MINUTE }),
);

async function answer(ctx: Context, asked: Asked): Promise<Content> {
  try {
    return await pass(ctx, asked);
  } catch (error) {
    const wait = error instanceof ApiError && error.status === 400 ? ctx.running.of(failures).fail(ctx) : 0;
    throw wait > 0 ? limitExceeded(wait) : error;
  }
}

export const scepProxyRoutes: readonly Route[] = [
  route(scepProxyApi.get, ({ params, query }, ctx) =>
    // Some clients do not escape the plus signs of base64.
    answer(ctx, { ...params, ...query, message: query.message?.replaceAll(" ", "+") ?? null }),
  ),
  route(scepProxyApi.post, ({ params, query, body }, ctx) => answer(ctx, { ...params, ...query, message: body.bytes })),
];
