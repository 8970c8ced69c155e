import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { reportsApi } from "../../../../api/edge/reports.ts";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import { type ListDefinition, onRows } from "../../../parts/list/definition.ts";
import { ListPage } from "../../../parts/list/list-page.tsx";
import { may } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { policyColumns } from "./columns.tsx";
import { DeletePoliciesDialog } from "./delete-policies-dialog.tsx";
import { policyHref } from "./policy-href.ts";

const PolicyDialog = lazy(() => import("./policy-dialog.tsx"));

type PolicyList = ListDefinition<AnyEndpoint, Policy>;

/** The policies of the team, with those that it inherits, or the global ones. */
export default function PoliciesPage(): ReactElement {
  const teamId = useTeamId();
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<readonly Policy[] | null>(null);
  const mayWrite = may("policies:write", teamId === 0 ? null : teamId);
  const definition = useMemo<PolicyList>(
    () => ({
      ...(teamId === null ? globalPolicies : policiesOfTeam(teamId)),
      actions: mayWrite ? [{ name: "Delete", isDangerous: true, onSelect: onRows(setDeleting) }] : [],
    }),
    [teamId, mayWrite],
  );
  const create = (
    <button type="button" onClick={() => setCreating(true)}>
      Create policy
    </button>
  );
  return (
    <>
      <ListPage definition={definition} actions={mayWrite && create} />
      <Suspense>
        {isCreating && <PolicyDialog policy={null} teamId={teamId} onClose={() => setCreating(false)} />}
      </Suspense>
      {deleting !== null && <DeletePoliciesDialog policies={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

const shared = {
  name: "Policies",
  view: "policies",
  thing: "policy",
  things: "policies",
  hasTeams: false,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }: Policy) => id,
  nameOf: ({ name }: Policy) => name,
  hrefOf: policyHref,
  columns: policyColumns,
  command: "policies list",
  empty: (
    <p>
      A policy is a question with yes or no as the answer: a host passes if the query returns a row. None exists yet. On
      the command line: <code>svc policies create</code>.
    </p>
  ),
} as const;

const globalPolicies: PolicyList = {
  ...shared,
  endpoint: policiesApi.listGlobal,
  rowsOf: ({ policies }) => policies ?? [],
  count: policiesApi.countGlobal,
  csv: { endpoint: reportsApi.policies },
};

const policiesOfTeam = (teamId: number): PolicyList => ({
  ...shared,
  endpoint: policiesApi.listTeam,
  params: { id: teamId },
  query: { merge_inherited: true },
  rowsOf: ({ policies }) => policies,
  count: policiesApi.countTeam,
  countParams: { team_id: teamId },
  csv: { endpoint: reportsApi.teamPolicies },
  command: `policies list --team ${teamId}`,
});
