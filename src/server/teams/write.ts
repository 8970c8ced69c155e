import { channels } from "../core/channels.ts";
import type { Context } from "../core/context.ts";
import type { TeamRow } from "./access.ts";

type Change = Pick<TeamRow, "id"> & Partial<Pick<TeamRow, "description" | "settings">>;

/** Sets the same columns of many teams in the caller's transaction. The values must have been checked. */
export async function writeTeamRows(
  { store, clock }: Pick<Context, "store" | "clock">,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const updated_at = clock.iso();
  await store.teams.updateEach(changes.map((change) => ({ ...change, updated_at })));
  await store.notify(channels.teams, "*");
}
