// A token enrolls one device. The device itself may repeat its request, because the reply may get lost.
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import { lt, lte } from "../../../platform/store/query.ts";
import { SIGN_IN_LIFETIME } from "./sign-in.ts";

export interface UsedToken {
  readonly text: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

/** Whether the device may enroll with the token, which from then on is its own. */
export async function useToken(
  { store }: Pick<Context, "store">,
  { text, expires }: UsedToken,
  device_id: string,
): Promise<boolean> {
  const row = { token_hash: tokenHash(text), device_id, expires_at: isoAt(expires * 1000 + KEPT_AFTER) };
  const [used] = await store.windowsUsedTokens.upsert([row], { on: ["token_hash"], set: [] });
  return used!.device_id === device_id;
}

/** Clocks may differ: a token that has expired here may not have done so where it was signed. */
const KEPT_AFTER = minutes(5);

/** Deletes what has expired. */
export const windowsSignInCleanup: Job = {
  name: "windows_sign_ins",
  every: minutes(5),
  async run({ store, clock }) {
    await store.windowsUsedTokens.delete(lte("expires_at", clock.iso()));
    await store.windowsSignIns.delete(lt("created_at", isoAt(clock.now() - SIGN_IN_LIFETIME)));
  },
};
