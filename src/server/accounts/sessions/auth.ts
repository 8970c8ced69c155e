import { minutes } from "../../platform/core/clock.ts";
import type { Services, Viewer } from "../../platform/core/context.ts";
import { tokensInUse } from "../../platform/core/http/tokens-in-use.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import { eq } from "../../platform/store/query.ts";
import { StoreUnavailable } from "../../platform/store/store.ts";
import { isOver, isUnused } from "./lifetime.ts";
import type { SessionRow } from "./service.ts";

/** The precision of the stored time of last use. */
const TOUCH_INTERVAL = minutes(1);

/** The user of a bearer token. Null if the token is unknown or expired, or the header is not a bearer token. */
export async function authenticate(services: Services, header: string): Promise<Viewer | null> {
  const token = /^Bearer +([\w~+/.=-]{1,512})$/i.exec(header.trim())?.[1];
  if (token === undefined) return null;
  const { store, clock } = services;
  const session = await store.sessions.first({ where: eq("token_hash", tokenHash(token)) });
  if (!session) return null;
  const user = await store.users.get(session.user_id);
  if (!user || isOver(services, session, user.api_only)) return null;
  services.running.of(tokensInUse).add(session.token_hash);
  if (isDue(session, clock.now())) await touch(services, session.id);
  return viewerOf(store, user, session);
}

/** Whether the time of last use is stored: at most once a minute, and at the first use of an API token. */
function isDue(session: SessionRow, now: number): boolean {
  const last = Date.parse(session.accessed_at);
  return now - last >= TOUCH_INTERVAL || (isUnused(session) && now > last);
}

async function touch({ store, clock }: Services, id: number): Promise<void> {
  try {
    await store.sessions.update({ where: eq("id", id), set: { accessed_at: clock.iso() } });
  } catch (error) {
    // Authentication continues to work while the store is read-only.
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
