import { type ReactElement, useEffect, useRef, useState } from "react";
import { request } from "../../../api.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { counted, formatted } from "../../../parts/counted.ts";
import { saveFile } from "../../../parts/save-file.ts";
import { SmallTable } from "../../../parts/small-table.tsx";
import { useUrl } from "../../../url.ts";
import { GroupedResults } from "./grouped-results.tsx";
import { type LiveResults, MAX_ROWS } from "./live-results.ts";
import { keptCsv, wholeCsv } from "./results-csv.ts";
import { ResultsTable } from "./results-table.tsx";

interface LiveOutputProps {
  readonly id: string;
  readonly results: LiveResults;
  readonly version: number;
  readonly isFinished: boolean;
}

/** The rows, or the values of one column, and the errors of hosts. */
export function LiveOutput({ id, results, version, isFinished }: LiveOutputProps): ReactElement {
  const url = useUrl();
  const columns = results.columnNames;
  const group = url.get("group_by");
  const column = group !== null && columns.includes(group) ? group : null;
  return (
    <>
      <div className="toolbar">
        <p role="status" className="list-status">
          {counted(results.rowCount, "row")} from {counted(results.hosts.length, "host")}
          {!isFinished && ", more may arrive"}
        </p>
        {columns.length > 0 && (
          <label className="check">
            Group by
            <select value={column ?? ""} onChange={({ target }) => url.set({ group_by: target.value || null })}>
              <option value="">nothing</option>
              {columns.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        {results.rowCount > 0 && <ExportCsv id={id} results={results} isFinished={isFinished} />}
      </div>
      {results.rowCount > MAX_ROWS && (
        <p className="message note">
          The page shows the first {formatted(MAX_ROWS)} rows. The file of all rows contains the others.
        </p>
      )}
      {column !== null && <GroupedResults results={results} column={column} version={version} />}
      {column === null && results.keptCount > 0 && <ResultsTable results={results} version={version} />}
      {isFinished && results.rowCount === 0 && <p className="empty">No host has returned rows.</p>}
      {results.errors.length > 0 && (
        <>
          <h2>Errors</h2>
          <SmallTable
            name="Errors"
            rows={results.errors}
            keyOf={({ host }) => host.id}
            columns={[
              { name: "Host", cell: ({ host }) => <PageLink href={`/hosts/${host.id}`}>{host.name}</PageLink> },
              { name: "Error", cell: ({ error }) => error },
            ]}
            empty=""
          />
        </>
      )}
    </>
  );
}

interface ExportCsvProps {
  readonly id: string;
  readonly results: LiveResults;
  readonly isFinished: boolean;
}

function ExportCsv({ id, results, isFinished }: ExportCsvProps): ReactElement {
  const [isReading, setReading] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const saveAll = async () => {
    const abort = new AbortController();
    stop.current = abort;
    setReading(true);
    try {
      const content = await request(() => wholeCsv(id, results.columnNames, abort.signal));
      saveFile({ name: `live-query-${id}.csv`, content });
    } catch (error) {
      if (!abort.signal.aborted) notifyFailed(error);
    } finally {
      setReading(false);
    }
  };
  const isWhole = results.rowCount <= results.keptCount;
  return (
    <>
      <button
        type="button"
        className="plain"
        onClick={() => saveFile({ name: `live-query-${id}.csv`, content: keptCsv(results) })}
      >
        Export CSV
      </button>
      {!isWhole && isFinished && (
        <button type="button" className="plain" disabled={isReading} onClick={() => void saveAll()}>
          {isReading ? "Reading all rows" : `Export all ${formatted(results.rowCount)} rows`}
        </button>
      )}
    </>
  );
}
