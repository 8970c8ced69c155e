import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { ListPage } from "../../../parts/list/list-page.tsx";
import { hostColumns } from "./columns.tsx";
import { hostFilters } from "./filters.ts";

const definition: ListDefinition<typeof hostsApi.list, Host> = {
  name: "Hosts",
  thing: "host",
  endpoint: hostsApi.list,
  rowsOf: ({ hosts }) => hosts,
  count: hostsApi.count,
  defaultOrder: { key: "display_name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ display_name }) => display_name,
  hrefOf: ({ id }) => `/hosts/${id}`,
  columns: hostColumns,
  filters: hostFilters,
  csv: { endpoint: hostsApi.report, query: { format: "csv" } },
  command: "hosts list",
  flags: { team_id: "team" },
  empty: (
    <>
      <p>Hosts are the computers and mobile devices that you manage. None has enrolled yet.</p>
      <p>
        A host enrolls with a command that <code>svc hosts new</code> prints.
      </p>
    </>
  ),
  actions: [{ name: "Refetch", onSelect: () => {} }],
};

export default function HostsPage(): ReactElement {
  return <ListPage definition={definition} />;
}
