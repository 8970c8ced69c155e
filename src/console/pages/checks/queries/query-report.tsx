import { type ReactElement, useMemo, useState } from "react";
import { type Query, queriesApi, type ReportRow } from "../../../../api/checks/queries.ts";
import { client, request, useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { useAction } from "../../../parts/action.ts";
import { Card } from "../../../parts/card.tsx";
import { counted } from "../../../parts/counted.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";
import { useTeamId } from "../../../url.ts";

const PAGE_SIZE = 100;

/** The latest results of a scheduled query, from all hosts. */
export function QueryReport({ query }: { readonly query: Query }): ReactElement {
  const teamId = useTeamId();
  const input = { params: { id: String(query.id) }, query: teamId === null ? {} : { team_id: teamId } };
  const reply = useRead(queriesApi.report, input);
  const download = useAction(async () => saveFile(await request(() => client.download(queriesApi.reportCsv, input))));
  return (
    <Card title="Report">
      <Read from={reply} what="report">
        {({ results, report_clipped }) => (
          <>
            <div className="toolbar">
              <span role="status">{counted(results.length, "row")}</span>
              <button type="button" className="plain" onClick={() => download.run()}>
                Export CSV
              </button>
            </div>
            {report_clipped && (
              <p className="message note">The report is full: rows of further hosts were not stored.</p>
            )}
            <Rows rows={results} isScheduled={query.interval > 0} />
          </>
        )}
      </Read>
    </Card>
  );
}

function Rows({
  rows,
  isScheduled,
}: {
  readonly rows: readonly ReportRow[];
  readonly isScheduled: boolean;
}): ReactElement {
  const [page, setPage] = useState(0);
  const names = useMemo(() => [...new Set(rows.flatMap(({ columns }) => Object.keys(columns)))], [rows]);
  const shown = rows
    .slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)
    .map((row, at) => ({ ...row, key: page * PAGE_SIZE + at }));
  return (
    <>
      <SmallTable
        name="Results"
        rows={shown}
        keyOf={({ key }) => key}
        columns={[
          {
            name: "Host",
            cell: ({ host_id, host_name }) => <PageLink href={`/hosts/${host_id}`}>{host_name}</PageLink>,
          },
          ...names.map((name) => ({ name, cell: ({ columns }: ReportRow) => columns[name] ?? "" })),
          { name: "Fetched", cell: ({ last_fetched }) => <Time value={last_fetched} /> },
        ]}
        empty={isScheduled ? "No host has sent results yet." : "It is not scheduled, so it has no report."}
      />
      {rows.length > PAGE_SIZE && (
        <div className="pager">
          <button type="button" className="plain" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous page
          </button>
          <button
            type="button"
            className="plain"
            disabled={(page + 1) * PAGE_SIZE >= rows.length}
            onClick={() => setPage(page + 1)}
          >
            Next page
          </button>
        </div>
      )}
    </>
  );
}
