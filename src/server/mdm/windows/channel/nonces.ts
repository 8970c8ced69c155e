// Nonces for digests: each is used once, within 5 minutes.
import { DIGEST, digestOf } from "../../../../syncml/digest.ts";
import type { SyncHeader } from "../../../../syncml/value.ts";
import { isoAt, minutes } from "../../../core/clock.ts";
import type { Context } from "../../../core/context.ts";
import type { Job } from "../../../core/job.ts";
import { sameText } from "../../../core/random.ts";
import { and, eq, gt, lte, oneOf } from "../../../store/query.ts";
import type { Enrollment } from "./listeners.ts";

const LIFETIME = minutes(5);
/** Of one device. Strangers who use its name get some as well. */
const MOST = 20;
const BYTES = 16;

type Home = Pick<Context, "store" | "clock" | "random">;

/** A nonce that nobody can use. */
export const emptyNonce = ({ random }: Pick<Context, "random">): string =>
  Buffer.from(random.token(BYTES), "base64url").toString("base64");

/** A nonce for the next message. `session`: in which the device gets it; null: with its enrollment. */
export async function newNonce({ store, clock, random }: Home, id: number, session: string | null): Promise<string> {
  const nonce = emptyNonce({ random });
  const expires_at = isoAt(clock.now() + LIFETIME);
  await store.windowsNonces.insert({ enrollment_id: id, session, nonce, expires_at });
  const order = [{ column: "id", direction: "desc" }] as const;
  const own = eq("enrollment_id", id);
  const old = await store.windowsNonces.pick(["id"], { where: own, order, offset: MOST, limit: MOST });
  if (old.length > 0)
    await store.windowsNonces.delete(
      oneOf(
        "id",
        old.map((one) => one.id),
      ),
    );
  return nonce;
}

/** Whether the credentials are the digest of the device's secret and of one of its nonces, which is used up. */
export async function isAuthenticated(
  { store, clock }: Home,
  { id, account }: Pick<Enrollment, "id" | "account">,
  { sessionId, credentials }: Pick<SyncHeader, "sessionId" | "credentials">,
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
  if (used) return (await store.windowsNonces.delete(eq("id", used.id))) > 0;
  // A wrong try uses up what its session got.
  await store.windowsNonces.delete(and(eq("enrollment_id", id), eq("session", sessionId)));
  return false;
}

/** Deletes nonces that have expired. */
export const nonceCleanup: Job = {
  name: "windows_nonces",
  every: minutes(5),
  async run({ store, clock }) {
    await store.windowsNonces.delete(lte("expires_at", clock.iso()));
  },
};
