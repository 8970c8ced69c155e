// Settings of a team, or of the hosts without one.
import { coversPath, isOfTeam, settingTypes } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

export const teamSettings: Kind = {
  noun: "team settings",
  typesOf: () => ["edited_team", ...["mdm", "integrations"].flatMap(settingTypes)],
  isAbout: (details, type, { owner, fields }) => {
    const paths = fields.map(({ path }) => path);
    return isOfTeam(details, owner) && coversPath(details, type, paths);
  },
};
