// Orders the rows of a list by one field.
import { usage } from "../errors.ts";
import { valueAt } from "./fields.ts";
import { cell } from "./text.ts";

export interface Sort {
  readonly field: string;
  readonly isDescending: boolean;
}

/** `name`, or `name:desc` for the reverse order. */
export function sortOf(text: string): Sort {
  const [field = "", direction = "asc", ...others] = text.split(":");
  if (field === "" || others.length > 0 || !["asc", "desc"].includes(direction))
    throw usage(`--sort: ${text} is not an order`, "Examples: --sort hostname, --sort seen_time:desc.");
  return { field, isDescending: direction === "desc" };
}

/** All rows of the pages as one page, in order. Rows without a value come last. */
export async function* sorted(
  pages: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
  { field, isDescending }: Sort,
): AsyncGenerator<readonly unknown[]> {
  const rows: unknown[] = [];
  for await (const page of pages) for (const row of page) rows.push(row);
  const sign = isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, value: valueAt(row, field) }));
  keyed.sort((a, b) =>
    isMissing(a.value) || isMissing(b.value)
      ? Number(isMissing(a.value)) - Number(isMissing(b.value))
      : sign * compare(a.value, b.value),
  );
  yield keyed.map(({ row }) => row);
}

const isMissing = (value: unknown): boolean => value === null || value === undefined || value === "";

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

const compare = (a: unknown, b: unknown): number =>
  typeof a === "number" && typeof b === "number" ? a - b : collator.compare(cell(a), cell(b));
