import { channels } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { dropOptOuts } from "../../platform/mail/opt-outs.ts";
import { eq } from "../../platform/store/query.ts";
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
  await keepSubscriptions(store, changes);
  await store.notify(channels.teams, "*");
}

/** Call it after settings of teams were written: whoever is no longer a recipient of mails may be added again. */
export async function keepSubscriptions(
  store: Pick<ServerTx, "mailOptOuts">,
  changes: readonly Pick<Change, "id" | "settings">[],
): Promise<void> {
  for (const { id, settings } of changes)
    if (settings !== undefined)
      await dropOptOuts(store, id, settings.webhook_settings?.failing_policies_mail?.recipients ?? []);
}

/** Deletes the row of a team, in the transaction that removed what belongs to it. */
export async function deleteTeamRow(store: ServerTx, id: number): Promise<void> {
  await store.teams.delete(eq("id", id));
  await store.notify(channels.teams, String(id));
  await store.notify(channels.enrollSecrets, "");
}
