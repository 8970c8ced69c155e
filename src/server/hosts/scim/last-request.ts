// The identity provider's last request: admins see whether the connection works.

import { seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { eq } from "../../platform/store/query.ts";

const ROW_NAME = "last";
/** Requests with the same result are written once per such a period. */
const WRITE_PERIOD = seconds(1);
const DETAILS_MAX = 1_000;

export async function lastRequest({ store }: Context) {
  const row = await store.scimRequests.first({ where: eq("name", ROW_NAME) });
  if (!row) return { last_request: null };
  const { requested_at, status, details } = row;
  return { last_request: { requested_at, status, details } };
}

export async function noteRequest({ store, clock, log }: Context, error: unknown): Promise<void> {
  const status = error === null ? ("success" as const) : ("error" as const);
  const details = error === null ? "" : joinedReasons(error).slice(0, DETAILS_MAX);
  try {
    const before = await store.scimRequests.first({ where: eq("name", ROW_NAME) });
    if (before?.status === status && before.details === details)
      if (Math.abs(clock.now() - Date.parse(before.requested_at)) < WRITE_PERIOD) return;
    const row = { name: ROW_NAME, requested_at: clock.iso(), status, details };
    await store.scimRequests.upsert([row], { on: ["name"], returning: [] });
  } catch (err) {
    // A failure to record the time must not make a request fail.
    log.warn({ err }, "the identity provider's last request was not recorded");
  }
}

function joinedReasons(error: unknown): string {
  if (!(error instanceof ApiError)) return "internal error";
  return error.errors.map(({ reason }) => reason).join("; ") || error.message;
}
