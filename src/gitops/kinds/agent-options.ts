// Agent options, of all hosts or of a team.
import { isRecord } from "../../text/record.ts";
import { thing } from "../desired/values.ts";
import type { Value } from "../files/overlay.ts";
import { checked } from "../files/section-values.ts";
import { isOfTeam } from "../plan/activities.ts";
import { AgentOptionsFile } from "../schema/settings.ts";
import type { Kind } from "./kind.ts";

/** A null in place of a part means that it is absent; inside of parts, null has a meaning. */
function whole(given: Value): Value {
  const parts = Object.entries(given).filter(([, part]) => part !== null && part !== undefined);
  return Object.fromEntries(
    parts.map(([key, part]) => [
      key,
      key === "overrides" ? Object.fromEntries(Object.entries(part as Value).filter(([, one]) => one !== null)) : part,
    ]),
  );
}

export const agentOptions: Kind = {
  noun: "agent options",
  ofNewTeam: null,
  document: {
    kind: "options",
    isSingle: true,
    read(spec, { options }) {
      const given = checked(AgentOptionsFile, spec, "spec", options);
      return given && { name: null, at: spec.at, settings: { agent_options: given } };
    },
  },
  desired: ({ current, scopes }) =>
    scopes
      .filter(({ kind }) => kind !== "no_team")
      .map(({ owner, values: { agentOptions: given } }) =>
        thing(
          "agent_options",
          owner,
          given ? whole(given) : owner === null ? current.state.defaults.agent_options : null,
        ),
      ),
  ofDocuments: ({ ofOrganization, ofTeams }) =>
    [...ofOrganization, ...ofTeams].flatMap(({ name, settings: { agent_options: given } }) => {
      if (isRecord(given)) return [thing("agent_options", name, whole(given))];
      return name === null || given === undefined ? [] : [thing("agent_options", name, null)];
    }),
  exported({ owner, objects }) {
    const options = objects.one(owner, "agent_options");
    return options === null ? {} : { agent_options: options };
  },
  typesOf: () => ["edited_agent_options"],
  isAbout: (details, _, { owner }) => isOfTeam(details, owner),
};
