import { type ReactElement, useMemo, useRef, useState } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { ListPage } from "../../../parts/list/list-page.tsx";
import { maySomewhere } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { hostColumns } from "./columns.tsx";
import { Facets } from "./facets.tsx";
import { hostFilters } from "./filters.ts";
import { HostPanel } from "./host-panel.tsx";
import type { HostSelection } from "./selected-hosts.tsx";
import { selectionActions, targetsOf } from "./selection-actions.ts";
import { type OpenDialog, SelectionDialog } from "./selection-dialog.tsx";

const definition: ListDefinition<typeof hostsApi.list, Host> = {
  name: "Hosts",
  view: "hosts",
  hasMatching: true,
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
  details: (id) => <HostPanel key={id} id={id} />,
  csv: { endpoint: hostsApi.report, query: { format: "csv" } },
  command: "hosts list",
  flags: { team_id: "team" },
  empty: (
    <>
      <p>Hosts are the computers and mobile devices that you manage. None has enrolled yet.</p>
      <p>
        A host enrolls with a command that <code>svc agent enroll-command</code> prints.
      </p>
    </>
  ),
};

export default function HostsPage(): ReactElement {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const go = useGo();
  const showLiveQuery = useRef<(selection: HostSelection) => void>(() => {});
  showLiveQuery.current = (selection) => {
    const targets = targetsOf(selection);
    if (targets !== null) go("/queries/live/new", targets);
    else notifyFailed(new Error("Live queries do not take these filters. Write them as a selector, or select rows."));
  };
  const withActions = useMemo(
    () => ({ ...definition, actions: selectionActions(setDialog, (selection) => showLiveQuery.current(selection)) }),
    [],
  );
  return (
    <>
      <ListPage definition={withActions} actions={<HostButtons />}>
        <Facets definition={definition} />
      </ListPage>
      {dialog !== null && <SelectionDialog {...dialog} onClose={() => setDialog(null)} />}
    </>
  );
}

const HostButtons = () => (
  <>
    <PageLink href="/labels">Labels</PageLink>
    {maySomewhere("enroll_secrets:read") && (
      <PageLink className="button" href="/hosts/new">
        Add hosts
      </PageLink>
    )}
  </>
);
