import { type ReactElement, useState } from "react";
import { type Action, actions, type Role, roles } from "../../../../api/access.ts";
import { counted } from "../../../parts/counted.ts";
import { SmallTable } from "../../../parts/small-table.tsx";
import { session } from "../../../session.ts";
import { SectionPage } from "../../settings/section-page.tsx";
import { roleName, rolesText } from "./roles.ts";

/** "hosts:read_disk_key": "Hosts: read disk key". */
const actionName = (action: string): string => {
  const text = action.replace(":", ": ").replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Whether the role allows the action as a global role, or on the hosts of a team too. */
function extent(action: Action, role: Role): string {
  const { global, team } = actions[action];
  if (!global.includes(role)) return team.includes(role) ? "on a team" : "";
  return team.includes(role) ? "yes" : "only globally";
}

/** Which role may do what. */
export default function RolesSection(): ReactElement {
  const [text, setText] = useState("");
  const rows = (Object.keys(actions) as Action[])
    .sort()
    .filter((action) => actionName(action).toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <SectionPage id="roles">
      <p>
        What each role may do: with "yes", as a role for all hosts, and as a role on a team for the hosts of this team.
        You are: {rolesText(session.data.user) || "without a role"}.
      </p>
      <search aria-label="Roles" className="toolbar">
        <input
          type="search"
          aria-label="Search"
          placeholder="Search"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </search>
      <p role="status" className="list-status">
        {counted(rows.length, "action")}
      </p>
      <SmallTable
        name="Roles"
        rows={rows}
        keyOf={(action) => action}
        columns={[
          { name: "Action", cell: actionName },
          ...roles.map((role) => ({ name: roleName(role), cell: (action: Action) => extent(action, role) })),
        ]}
        empty="No action has this name."
      />
    </SectionPage>
  );
}
