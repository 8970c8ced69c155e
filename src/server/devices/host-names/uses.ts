// Templates of names as users of custom variables.

import { channels } from "../../platform/core/channels.ts";
import { readSection } from "../../settings/app-config/rows.ts";
import { mdm } from "../../settings/app-config/sections/mdm.ts";
import { shownSettings } from "../../settings/teams/settings.ts";
import type { VariableUser } from "../../settings/variables/use.ts";

export const hostNamesUseVariables: VariableUser = {
  async findUse(store, isUsedIn) {
    if (isUsedIn((await readSection(store, mdm)).name_template)) return "the template of names of hosts without a team";
    for await (const teams of store.teams.pages({}, 100, ["id", "name", "settings"]))
      for (const { name, settings } of teams)
        if (isUsedIn(shownSettings(settings).mdm.name_template))
          return `the template of names of hosts of the team ${JSON.stringify(name)}`;
    return null;
  },
  // A host whose name contains the value gets another one.
  changed: ({ store }) => store.notify(channels.hostNames, ""),
};
