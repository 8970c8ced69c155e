// Teams; their settings are other kinds.
import { z } from "zod";
import type { Current } from "../desired/current.ts";
import { objectIn, thing } from "../desired/values.ts";
import { fieldsOf } from "../export/fields.ts";
import { checkTeamSettings } from "../files/rules.ts";
import { readSpec, teamNameOf } from "../files/spec.ts";
import { anyOf, changedPaths } from "../plan/activities.ts";
import { AgentOptionsFile, TeamControls, TeamSettings } from "../schema/settings.ts";
import type { Kind } from "./kind.ts";

const TeamSpec = z.strictObject({
  ...TeamSettings.shape,
  name: z.string().min(1).max(255),
  agent_options: AgentOptionsFile.nullish(),
  mdm: TeamControls.nullish(),
});

/** The description is kept if it is not given. */
const desiredTeam = (name: string, description: unknown, current: Current) =>
  thing(
    "team",
    null,
    { description: description ?? objectIn({ it: current.value("team", null, name) }, "it").description ?? "" },
    name,
  );

export const team: Kind = {
  noun: "team",
  document: {
    kind: "team",
    read(spec, reading) {
      const body = spec.entries.get("team")?.value;
      if (body?.kind !== "map" || spec.entries.size > 1) {
        reading.options.problems.error(spec.at, "the spec of a team must have exactly one key, team");
        return null;
      }
      const read = readSpec(TeamSpec, body, "spec.team", reading, checkTeamSettings);
      return read && { ...read, name: teamNameOf(read.settings.name) };
    },
  },
  desired: ({ current, teams }) =>
    teams.map(({ name, values }) => desiredTeam(name!, values.settings?.description, current)),
  ofDocuments: ({ current, ofTeams }) =>
    ofTeams.map(({ name, settings }) => desiredTeam(name, settings.description, current)),
  isComplete: ({ name }, { deletesTeam }) => deletesTeam(name),
  exported({ file, owner, objects }) {
    const team = objects.all(null, "team").find(({ name }) => name === owner);
    return file === "team" ? { settings: fieldsOf(team?.value) } : {};
  },
  typesOf: () => anyOf("team"),
  isAbout: (details, type, { name }) =>
    details.team_name === name && (type !== "edited_team" || changedPaths(details).includes("description")),
};
