// Profiles as users of custom variables and custom host vitals.
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";
import type { IsUsedIn, VariableUser } from "../../settings/variables/use.ts";
import { contentsOf } from "./contents.ts";
import { notifyProfiles } from "./part.ts";

/** Contents in memory at a time. */
const BATCH_SIZE = 50;

async function* profilesUsing(store: ServerTx, isUsedIn: IsUsedIn) {
  for await (const rows of store.configurationProfiles.pages({ where: eq("has_variables", true) }, BATCH_SIZE)) {
    const contents = await contentsOf(
      store,
      rows.map(({ id }) => id),
    );
    for (const row of rows) if (isUsedIn(contents.get(row.id)?.toString() ?? "")) yield row;
  }
}

export const profilesUseVariables: VariableUser = {
  async findUse(store, isUsedIn) {
    for await (const { name } of profilesUsing(store, isUsedIn))
      return `the configuration profile ${JSON.stringify(name)}`;
    return null;
  },
  async changed({ store }, isUsedIn, hostIds) {
    const profileIds: number[] = [];
    for await (const { id } of profilesUsing(store, isUsedIn)) profileIds.push(id);
    if (profileIds.length > 0) await notifyProfiles(store, hostIds === undefined ? { profileIds } : { hostIds });
  },
};
