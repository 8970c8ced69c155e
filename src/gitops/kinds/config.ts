// Settings of the organization, one object per section.
import { coversPath, isOfTeam, settingTypes } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

export const config: Kind = {
  noun: "settings",
  typesOf: ({ name }) => ["edited_config", ...settingTypes(name)],
  isAbout: (details, type, { name, fields }) => {
    const paths = fields.map(({ path }) => (path === "" ? name : `${name}.${path}`));
    return isOfTeam(details, null) && coversPath(details, type, paths);
  },
};
