import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";

/** The scheduled queries of the host, with what they cost it. */
export function ReportsTab({ host }: { readonly host: Host }): ReactElement {
  const rows = (host.pack_stats ?? []).flatMap(({ pack_name, query_stats }) =>
    query_stats.map((stats) => ({ ...stats, key: `${pack_name} ${stats.scheduled_query_name}` })),
  );
  return (
    <SmallTable
      name="Reports"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        {
          name: "Query",
          cell: ({ scheduled_query_id: id, scheduled_query_name: name }) =>
            id === null ? name : <PageLink href={`/queries/${id}`}>{name}</PageLink>,
        },
        { name: "Every", isNumber: true, cell: ({ interval }) => `${interval} s` },
        { name: "Last results", cell: ({ last_fetched }) => <Time value={last_fetched} /> },
        { name: "Executions", isNumber: true, cell: ({ executions }) => executions },
        { name: "Time", isNumber: true, cell: ({ wall_time }) => `${wall_time} ms` },
        { name: "State", cell: ({ denylisted }) => denylisted && <Badge tone="bad">denylisted</Badge> },
      ]}
      empty="This host runs no scheduled queries."
    />
  );
}
