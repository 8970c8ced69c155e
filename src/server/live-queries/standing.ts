// Whoever started a live query must still be allowed to when a host is asked: it may wait for days, in which hosts change team and users
// their roles.
import { isCarving } from "../carves/admit.ts";
import { may } from "../core/access.ts";
import type { ServerTx } from "../tables.ts";
import { actionFor } from "../targets/select.ts";
import { viewerOf } from "../users/viewer.ts";
import type { CampaignRow } from "./work.ts";

/** Whether hosts of that team may be asked. */
export type MayAsk = (teamId: number | null) => boolean;

export async function standingOf(
  store: ServerTx,
  { user_id, query_id, query: sql }: Pick<CampaignRow, "user_id" | "query_id" | "query">,
): Promise<MayAsk> {
  const user = user_id === null ? null : await store.users.get(user_id);
  // The server's own; one whose user is gone is ended.
  if (!user) return () => true;
  const viewer = await viewerOf(store, user, null);
  const action = actionFor(query_id === null ? null : await store.queries.get(query_id));
  const carves = isCarving(sql);
  return (teamId) => may(viewer, action, teamId) && (!carves || may(viewer, "carves:start", teamId));
}
