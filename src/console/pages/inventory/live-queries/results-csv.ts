import { type LiveResult, liveQueriesApi } from "../../../../api/inventory/live-queries.ts";
import { csvText } from "../../../../text/csv.ts";
import { client } from "../../../api.ts";
import type { LiveResults } from "./live-results.ts";

/** Rows per part of the file: browsers keep large files on the disk, part by part. */
const PART_ROWS = 5_000;

/** The rows that the page keeps. */
export function keptCsv(results: LiveResults): Blob {
  const columns = results.columnNames;
  const parts: string[] = [csvText([headerOf(columns)])];
  for (let from = 0; from < results.keptCount; from += PART_ROWS) {
    const rows: string[][] = [];
    for (let row = from; row < Math.min(from + PART_ROWS, results.keptCount); row++) {
      const { id, name } = results.host(row);
      rows.push([String(id), name, ...columns.map((column) => results.cell(column, row))]);
    }
    parts.push(csvText(rows));
  }
  return csvFile(parts);
}

/** All rows, which are read again from the server: those that the page does not keep, too. */
export async function wholeCsv(id: string, columns: readonly string[], signal: AbortSignal): Promise<Blob> {
  const parts: Blob[] = [csvFile([csvText([headerOf(columns)])])];
  for await (const { event, data } of client.events(liveQueriesApi.stream, { params: { id } }, { signal })) {
    if (event === "error") throw new Error(String(JSON.parse(data)));
    if (event !== "result") continue;
    const { host, rows } = JSON.parse(data) as LiveResult;
    const name = host.display_name || host.hostname;
    parts.push(
      csvFile([csvText(rows.map((row) => [String(host.id), name, ...columns.map((column) => row[column] ?? "")]))]),
    );
  }
  return new Blob(parts, { type: "text/csv" });
}

const headerOf = (columns: readonly string[]): readonly string[] => ["host_id", "host_name", ...columns];
const csvFile = (parts: readonly string[]): Blob => new Blob([...parts], { type: "text/csv" });
