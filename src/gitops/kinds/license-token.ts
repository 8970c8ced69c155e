// Teams of the tokens of the license program.
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { checkTeams, listIn, placeIn, tokensOf } from "../desired/tokens.ts";
import { fieldsOf } from "../export/fields.ts";
import type { LicenseToken } from "../schema/tokens.ts";
import type { Kind } from "./kind.ts";

const KIND = "license_token";
const LIST = "volume_purchasing_program";
const ALL = "All teams";
const noun = "token of the license program";

export const licenseToken: Kind = {
  noun,
  desired(run) {
    const tokens = listIn<LicenseToken>(run, LIST);
    const owners = new Map<string, string>();
    for (const [i, { location, teams }] of tokens.entries()) {
      const at = placeIn(run, [LIST], [String(i), "teams"]);
      if (teams.includes(ALL) && teams.length > 1) run.problems.error(at, `${ALL} cannot be used with single teams`);
      const single = teams.filter((name) => name !== ALL && name !== NO_TEAM_NAME);
      checkTeams(run, single, at);
      for (const name of teams) {
        const other = owners.get(name) ?? (name === ALL ? [...owners.values()][0] : owners.get(ALL));
        if (other !== undefined && other !== location)
          run.problems.error(at, `${name} cannot have two ${noun.replace("token", "tokens")}: ${other} has it already`);
        owners.set(name, location);
      }
    }
    return tokensOf(run, tokens, { kind: KIND, noun, keys: [LIST], by: "location", none: { teams: [] } });
  },
  exported({ file, objects }) {
    const tokens = file === "global" ? objects.all(null, KIND) : [];
    if (tokens.length === 0) return {};
    return { settings: { mdm: { [LIST]: tokens.map(({ name, value }) => ({ location: name, ...fieldsOf(value) })) } } };
  },
  unordered: "teams",
  typesOf: () => ["edited_vpp_teams"],
  isAbout: ({ location }, _, { name }) => location === name,
};
