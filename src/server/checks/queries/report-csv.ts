import type { ReportRow } from "../../../api/checks/queries.ts";
import { csvText } from "../../../text/csv.ts";
import type { Context } from "../../platform/core/context.ts";
import { bytesOf } from "../../platform/core/http/text-stream.ts";
import { queryOfReport, reportPages } from "./report.ts";

/** Maximum number of columns in one file. */
const COLUMNS_MAX = 2000;

/** Streams the report as CSV. Columns differ between hosts, so a first pass collects all of them. */
export async function reportCsv(ctx: Context, id: number, teamId: number | undefined) {
  const query = await queryOfReport(ctx, id, teamId);
  const columnNames = new Set<string>();
  for await (const page of reportPages(ctx, query, teamId))
    for (const { columns } of page)
      for (const name of Object.keys(columns)) if (columnNames.size < COLUMNS_MAX) columnNames.add(name);
  const names = [...columnNames].sort();
  const body = bytesOf(ctx, lines(reportPages(ctx, query, teamId), names), "the report of a query");
  return { body, headers: {}, name: `query-${id}-report.csv` };
}

async function* lines(pages: AsyncGenerator<ReportRow[]>, names: readonly string[]): AsyncGenerator<string, undefined> {
  yield text([["host_id", "host_name", "last_fetched", ...names]]);
  for await (const page of pages)
    if (page.length > 0)
      yield text(
        page.map(({ host_id, host_name, last_fetched, columns }) => [
          host_id,
          host_name,
          last_fetched,
          ...names.map((name) => (Object.hasOwn(columns, name) ? columns[name] : "")),
        ]),
      );
  return undefined;
}

const text = (records: readonly (readonly unknown[])[]): string => csvText(records, "\n");
