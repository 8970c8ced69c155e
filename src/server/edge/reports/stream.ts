import type { z } from "zod";
import type { StreamedBody } from "../../../api/bodies.ts";
import { csvText } from "../../../text/csv.ts";
import { nearest } from "../../../text/nearest.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { bytesOf } from "../../platform/core/http/text-stream.ts";

/** Rows that are read at once. Each read orders the whole list, so small batches make a long report expensive. */
const BATCH_SIZE = 4000;

type ReadPage = (window: { readonly page: number; readonly per_page: number }) => Promise<readonly object[]>;

interface Report {
  readonly name: string;
  /** The schema of a row. */
  readonly row: z.ZodObject;
  readonly columns: string | undefined;
  readonly read: ReadPage;
}

export async function streamReport(ctx: Context, { name, row, columns, read }: Report): Promise<StreamedBody> {
  const names = columnNames(columns, columnsOf(row));
  const first = await read({ page: 0, per_page: BATCH_SIZE });
  const cells = (rows: readonly object[]) =>
    csvText(rows.map((each) => names.map((column) => (each as Record<string, unknown>)[column])));

  async function* lines(): AsyncGenerator<string> {
    yield csvText([names]);
    let rows = first;
    for (let page = 1; rows.length > 0; page++) {
      yield cells(rows);
      if (rows.length < BATCH_SIZE) return;
      rows = await read({ page, per_page: BATCH_SIZE });
    }
  }
  return {
    body: bytesOf(ctx, lines(), `the report of ${name}`),
    headers: { "content-type": "text/csv; charset=utf-8" },
    name: `${name}-${ctx.clock.iso().slice(0, 10)}.csv`,
  };
}

const columnsOf = ({ shape }: z.ZodObject): readonly string[] =>
  Object.entries(shape).flatMap(([name, field]) => ((field as z.ZodType).meta()?.deprecated ? [] : [name]));

function columnNames(list: string | undefined, valid: readonly string[]): readonly string[] {
  const names = (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  for (const name of names) {
    if (valid.includes(name)) continue;
    const near = nearest(name, valid);
    const help = near === undefined ? `; columns: ${valid.join(", ")}` : ` (did you mean ${near}?)`;
    throw badRequest(`Invalid columns: ${name}${help}`, "columns");
  }
  return names.length > 0 ? names : valid;
}
