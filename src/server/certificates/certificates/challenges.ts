// Challenges of certificate templates: the agent of a host gets one, and sends it to the SCEP proxy
// (devices/scep-proxy). It is valid for one hour and one certificate.
import { minutes } from "../../platform/core/clock.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import { sameText, tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { textIn } from "../ca/rules.ts";
import type { hostCertificates } from "./tables.ts";

const CHALLENGE_LIFETIME = minutes(60);

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

/** What the SCEP proxy may pass on. */
export interface OpenChallenge {
  /** The address of the authority. */
  readonly url: string;
  /** False if another request has used it in the meantime. */
  use(): Promise<boolean>;
}

interface TemplateRequest {
  readonly host_uuid: string;
  readonly template_id: number;
  readonly ca_name: string;
  readonly challenge: string;
}

/** Null if no host has this challenge, or it has expired. */
export async function openTemplateChallenge(
  ctx: Context,
  { host_uuid, template_id, ca_name, challenge }: TemplateRequest,
): Promise<OpenChallenge | null> {
  const { store, clock } = ctx;
  const template = await store.certificateTemplates.get(template_id);
  const ca = template ? await store.certificateAuthorities.get(template.certificate_authority_id) : null;
  if (!template || !ca || ca.name !== ca_name) return null;
  const hash = tokenHash(challenge);
  // Several hosts may have the same uuid: the challenge identifies the host.
  const hosts = await store.hosts.pick(["id", "team_id"], { where: eq("uuid", host_uuid), limit: 10 });
  for (const host of hosts.filter(({ team_id }) => team_id === template.team_id)) {
    const row = await store.hostCertificates.first({
      where: and(eq("host_id", host.id), eq("template_id", template_id)),
    });
    if (!row?.challenge_hash || !sameText(row.challenge_hash, hash)) continue;
    if (row.status === "delivered" && Date.parse(row.challenge_until ?? "") > clock.now())
      return { url: textIn(ca.settings, "url"), use: () => consume(ctx, row) };
    await startAnew(store, clock.iso(), row);
  }
  return null;
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
