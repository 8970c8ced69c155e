// The agent options of the organization, which are a section of its configuration, and those of teams.
import { isDeepStrictEqual } from "node:util";
import type { AgentOptions } from "../../../../api/settings/app-config.ts";
import { parseAgentOptions } from "../../../settings/app-config/agent-options.ts";
import { sections } from "../../../settings/app-config/sections.ts";
import { writeAgentOptions } from "../../../settings/teams/agent-options.ts";
import type { Kind } from "../kind.ts";
import type { Thing } from "../values.ts";
import { count } from "../work.ts";

const thing = (owner: string | null, value: unknown): Thing => ({
  kind: "agent_options",
  owner,
  name: "agent_options",
  value,
});

export const agentOptions: Kind<null, AgentOptions | null> = {
  name: "agent_options",
  owners: ["global", "team"],
  per: "one",
  action: ({ owner }) => (owner === null ? "config:write" : "teams:edit"),
  writtenWith: ({ owner }) => (owner === null ? "config" : null),
  load: async () => null,
  *things(_, { sections, teams }) {
    if (sections) yield thing(null, sections.get("agent_options"));
    for (const { name, agent_options } of teams) yield thing(name, agent_options);
  },
  defaults: () => ({ agent_options: sections.agent_options.defaults }),
  read: (_, { value }) =>
    value === null || value === undefined ? null : parseAgentOptions(value, { force: false, at: "value" }),
  async write(work, { steps }) {
    const changed = steps.filter(
      ({ owner, desired }) => !isDeepStrictEqual(work.teams.get(owner!)!.agent_options, desired),
    );
    count(work, changed);
    await writeAgentOptions(
      work.ctx,
      changed.map(({ owner, desired }) => ({ before: work.teams.get(owner!)!, options: desired })),
    );
  },
};
