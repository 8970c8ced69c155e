// Nonces for digests: each is used once, within 5 minutes.
import { DIGEST, digestOf } from "../../../../syncml/digest.ts";
import type { SyncHeader } from "../../../../syncml/value.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { sameText } from "../../../platform/core/random.ts";
import { and, eq, gt, lte } from "../../../platform/store/query.ts";
import type { Enrollment } from "./listeners.ts";

const LIFETIME = minutes(5);
/** A nonce that is valid for less than this is not given away any more. */
const GIVEN_FOR = minutes(2);
const NONCE_BYTES = 16;

type Deps = Pick<Context, "store" | "clock" | "random">;

/** A nonce that nobody can use. */
export const emptyNonce = ({ random }: Pick<Context, "random">): string =>
  Buffer.from(random.token(NONCE_BYTES), "base64url").toString("base64");

/** A nonce for the device's next message. */
export async function newNonce({ store, clock, random }: Deps, enrollment_id: number): Promise<string> {
  const nonce = emptyNonce({ random });
  await store.windowsNonces.insert({ enrollment_id, nonce, expires_at: isoAt(clock.now() + LIFETIME) });
  return nonce;
}

/**
 * A nonce for somebody who uses the device's name and has proved nothing. Strangers get the one that waits for the
 * device: it is no secret, and whatever they send, the device can still use it.
 */
export async function waitingNonce(home: Deps, id: number): Promise<string> {
  const { store, clock } = home;
  const isLasting = and(eq("enrollment_id", id), gt("expires_at", isoAt(clock.now() + GIVEN_FOR)));
  return (await store.windowsNonces.first({ where: isLasting }))?.nonce ?? newNonce(home, id);
}

/** Whether the credentials are the digest of the device's secret and of one of its nonces, which is used up. */
export async function isAuthenticated(
  { store, clock }: Deps,
  { id, account }: Pick<Enrollment, "id" | "account">,
  { credentials }: Pick<SyncHeader, "credentials">,
): Promise<boolean> {
  if (credentials === null || credentials.type !== DIGEST) return false;
  // Devices begin a session with the last nonce of the one before.
  const where = and(eq("enrollment_id", id), gt("expires_at", clock.iso()));
  const nonces = await store.windowsNonces.list({ where });
  const [enrollment] = await store.windowsEnrollments.pick(["secret"], { where: eq("id", id) });
  if (!enrollment) return false;
  const { secret } = enrollment;
  const isOf = (nonce: Buffer) => sameText(digestOf(account, secret, nonce), credentials.data);
  // Some clients use the nonce as it was sent to them.
  const used = nonces.find(({ nonce }) => isOf(Buffer.from(nonce, "base64")) || isOf(Buffer.from(nonce)));
  return used !== undefined && (await store.windowsNonces.delete(eq("id", used.id))) > 0;
}

/** Deletes nonces that have expired. */
export const nonceCleanup: Job = {
  name: "windows_nonces",
  every: minutes(5),
  async run({ store, clock }) {
    await store.windowsNonces.delete(lte("expires_at", clock.iso()));
  },
};
