// Checks, whenever a host is about to get a live query, that the user who started it may still run it there. A query
// may wait for days, during which hosts change team and users change roles.
import { isCarving } from "../../platform/agent-protocol/carving-sql.ts";
import { may } from "../../platform/core/security/access.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { mayRunOn } from "../targets/select.ts";
import type { CampaignRow } from "./tables.ts";

/** Whether the query may be sent to hosts of that team. */
export type MayAsk = (teamId: number | null) => boolean;

export async function standingOf(
  store: ServerTx,
  { user_id, query_id, query: sql }: Pick<CampaignRow, "user_id" | "query_id" | "query">,
): Promise<MayAsk> {
  const user = user_id === null ? null : await store.users.get(user_id);
  // Without a user it is the server's own query. A query whose user was deleted is ended elsewhere.
  if (!user) return () => true;
  const viewer = await viewerOf(store, user, null);
  const query = query_id === null ? null : await store.queries.get(query_id);
  const carves = isCarving(sql);
  return (teamId) => mayRunOn(viewer, query, teamId) && (!carves || may(viewer, "carves:start", teamId));
}
