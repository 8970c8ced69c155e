// Agent options, of all hosts or of a team.
import { isRecord } from "../../text/record.ts";
import { thing } from "../desired/values.ts";
import type { Value } from "../files/overlay.ts";
import { checked } from "../files/section-values.ts";
import { isOfTeam } from "../plan/activities.ts";
import { AgentOptionsFile } from "../schema/settings.ts";
import type { Kind } from "./kind.ts";

/** A null in place of a part means that it is absent; inside of parts, null has a meaning. */
function whole(agentOptions: Value): Value {
  const parts = Object.entries(agentOptions).filter(([, part]) => part !== null && part !== undefined);
  return Object.fromEntries(
    parts.map(([key, part]) => [
      key,
      key === "overrides"
        ? Object.fromEntries(Object.entries(part as Value).filter(([, override]) => override !== null))
        : part,
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
      const agentOptions = checked(AgentOptionsFile, spec, "spec", options);
      return agentOptions && { name: null, at: spec.at, settings: { agent_options: agentOptions } };
    },
  },
  desired: ({ current, scopes }) =>
    scopes
      .filter(({ kind }) => kind !== "no_team")
      .map(({ owner, values: { agentOptions } }) =>
        thing(
          "agent_options",
          owner,
          agentOptions ? whole(agentOptions) : owner === null ? current.state.defaults.agent_options : null,
        ),
      ),
  ofDocuments: ({ ofOrganization, ofTeams }) =>
    [...ofOrganization, ...ofTeams].flatMap(({ name, settings: { agent_options: agentOptions } }) => {
      if (isRecord(agentOptions)) return [thing("agent_options", name, whole(agentOptions))];
      return name === null || agentOptions === undefined ? [] : [thing("agent_options", name, null)];
    }),
  exported({ owner, objects }) {
    const options = objects.singleValue(owner, "agent_options");
    return options === null ? {} : { agent_options: options };
  },
  typesOf: () => ["edited_agent_options"],
  isAbout: (details, _, { owner }) => isOfTeam(details, owner),
};
