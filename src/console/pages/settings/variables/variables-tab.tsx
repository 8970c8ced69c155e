import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type CustomVariable, variablesApi } from "../../../../api/settings/variables.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { isPremium, may, useSession } from "../../../session.ts";
import { usageNames } from "./uses.ts";

const VariableDialog = lazy(() => import("./variable-dialog.tsx"));
const DeleteVariableDialog = lazy(() => import("./delete-variable-dialog.tsx"));

type OpenDialog = { readonly name: "create" } | { readonly name: "edit" | "delete"; readonly variable: CustomVariable };

/** Custom variables: secrets that scripts and profiles name. Their values are never shown. */
export default function VariablesTab(): ReactElement {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const { available_teams } = useSession();
  const definition = useMemo(
    () => variables(new Map(available_teams.map(({ id, name }) => [id, name])), setDialog),
    [available_teams],
  );
  const close = () => setDialog(null);
  return (
    <>
      {may("variables:write", null) && (
        <p className="buttons">
          <button type="button" aria-haspopup="dialog" onClick={() => setDialog({ name: "create" })}>
            Create variable
          </button>
        </p>
      )}
      <List definition={definition} />
      <Suspense>
        {dialog?.name === "create" && <VariableDialog variable={null} onClose={close} />}
        {dialog?.name === "edit" && <VariableDialog variable={dialog.variable} onClose={close} />}
        {dialog?.name === "delete" && <DeleteVariableDialog variable={dialog.variable} onClose={close} />}
      </Suspense>
    </>
  );
}

function teamsOf({ team_ids }: CustomVariable, names: ReadonlyMap<number, string>): string {
  if (team_ids === null) return "all";
  if (team_ids.length === 0) return "none";
  return team_ids.map((id) => (id === 0 ? "No team" : (names.get(id) ?? `Team ${id}`))).join(", ");
}

const variables = (
  teamNames: ReadonlyMap<number, string>,
  open: (dialog: OpenDialog) => void,
): ListDefinition<typeof variablesApi.list, CustomVariable> => ({
  name: "Variables",
  thing: "variable",
  endpoint: variablesApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ custom_variables }) => custom_variables,
  countOf: ({ count }) => count,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name }) => <code>$SVC_SECRET_{name}</code> },
    {
      id: "uses",
      name: "May be used in",
      cell: ({ uses }) => uses.map((use) => usageNames[use]).join(", ") || "nothing",
    },
    ...(isPremium()
      ? [{ id: "teams", name: "Teams", cell: (variable: CustomVariable) => teamsOf(variable, teamNames) }]
      : []),
    { id: "updated", name: "Changed", order: "updated_at", cell: ({ updated_at }) => <Time value={updated_at} /> },
    {
      id: "actions",
      name: "Actions",
      cell: (variable) =>
        may("variables:write", null) && (
          <span className="buttons">
            <button
              type="button"
              className="plain small"
              aria-label={`Edit ${variable.name}`}
              aria-haspopup="dialog"
              onClick={() => open({ name: "edit", variable })}
            >
              Edit
            </button>
            <button
              type="button"
              className="danger small"
              aria-label={`Delete ${variable.name}`}
              aria-haspopup="dialog"
              onClick={() => open({ name: "delete", variable })}
            >
              Delete
            </button>
          </span>
        ),
    },
  ],
  command: "variables list",
  empty: (
    <p>
      A variable is a secret that scripts, software and profiles name instead of containing it:{" "}
      <code>$SVC_SECRET_NAME</code>. Hosts get its value; nobody can read it here. On the command line:{" "}
      <code>svc variables create</code>.
    </p>
  ),
});
