import { service } from "../../platform/core/context.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import type { Inside, Operation } from "./kind.ts";

/** For activities that record the end of an operation: as the user who has asked for it, or as the server itself. */
export async function requesterOf<I extends Inside>(inside: I, { user_id }: Pick<Operation, "user_id">): Promise<I> {
  const user = user_id === null ? null : await inside.store.users.get(user_id);
  return { ...inside, user: user ? await viewerOf(inside.store, user, null) : service };
}
