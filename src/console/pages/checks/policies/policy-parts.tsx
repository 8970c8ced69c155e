import { type ReactElement, useMemo } from "react";
import type { Policy } from "../../../../api/checks/policies.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { hostColumns } from "../../inventory/hosts/columns.tsx";
import { AutomationRuns } from "./automation-runs.tsx";

type Response = "failing" | "passing" | "none";

const tabs: readonly { readonly id: Response; readonly name: string }[] = [
  { id: "failing", name: "Failing" },
  { id: "passing", name: "Passing" },
  { id: "none", name: "No answer" },
];

/** The hosts of the policy by their answer, and what its automations did. */
export function PolicyParts({ policy }: { readonly policy: Policy }): ReactElement {
  return (
    <UrlTabs
      label="Parts of the policy"
      kept={["of"]}
      tabs={[
        ...tabs.map(({ id, name }) => ({ id, name, content: () => <Hosts policyId={policy.id} response={id} /> })),
        { id: "runs", name: "Automation runs", content: () => <AutomationRuns policyId={policy.id} /> },
      ]}
    />
  );
}

function Hosts({ policyId, response }: { readonly policyId: number; readonly response: Response }): ReactElement {
  const definition = useMemo(() => hostsOf(policyId, response), [policyId, response]);
  return <List key={response} definition={definition} />;
}

const hostsOf = (policyId: number, response: Response): ListDefinition<typeof hostsApi.list, Host> => ({
  name: "Hosts",
  thing: "host",
  endpoint: hostsApi.list,
  query: { policy_id: policyId, policy_response: response },
  rowsOf: ({ hosts }) => hosts,
  count: hostsApi.count,
  defaultOrder: { key: "display_name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ display_name }) => display_name,
  hrefOf: ({ id }) => `/hosts/${id}/policies`,
  columns: hostColumns,
  csv: { endpoint: hostsApi.report, query: { format: "csv" } },
  command: "hosts list",
  flags: { team_id: "team" },
  empty: <p>No host has answered this way.</p>,
});
