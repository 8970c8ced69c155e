import type { z } from "zod";
import type { PlainField, PlainFields } from "../../../api/plain-fields.ts";
import { bool, type Column, int, text } from "./table.ts";

type PlainColumns<F extends PlainFields> = { [K in keyof F]: Column<z.output<F[K]["schema"]>, true> };

/** The columns of plain fields, with the fallbacks of the fields as defaults. */
export const plainColumns = <F extends PlainFields>(fields: F): PlainColumns<F> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, columnOf(field)])) as PlainColumns<F>;

function columnOf({ kind, fallback }: PlainField) {
  if (kind === "flag") return bool().default(fallback as boolean);
  return kind === "number" ? int().default(fallback as number) : text().default(fallback as string);
}
