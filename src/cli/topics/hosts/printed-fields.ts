// Lists of hosts are requested with the fields that are printed: a whole host is ten times larger.
import { type Host, listedHostFields } from "../../../api/hosts/host.ts";
import { ApiCallError } from "../../../client/errors.ts";
import type { ClientCommand } from "../../client-command.ts";
import { listOf } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { parseTemplate } from "../../output/template.ts";

/** The paths that this run prints; null: whole hosts. */
function printedPaths({ common, format }: ClientCommand, view: View): readonly string[] | null {
  const { fields, template, jq } = common;
  if (typeof template === "string") return parseTemplate(template).fields;
  if (typeof fields === "string") return listOf([fields]);
  if (jq !== undefined || (format !== "table" && format !== "csv")) return null;
  return view.columns.map((column) => (typeof column === "string" ? column : column.key));
}

/** The parameter `fields` for this run; undefined: whole hosts. */
export function printedFields(command: ClientCommand, view: View, more: readonly string[] = []): string | undefined {
  const paths = printedPaths(command, view);
  if (paths === null) return undefined;
  const names = new Set(["id", ...more, ...paths.map((path) => path.split(".")[0]!)]);
  return listedHostFields.filter((name) => names.has(name)).join(",");
}

const isUnsupported = (error: unknown): boolean =>
  error instanceof ApiCallError && error.status === 400 && error.errors.some(({ name }) => name === "fields");

type Pages = AsyncIterable<readonly Host[]>;

/** The pages with these fields. A server that is older than the parameter is asked for whole hosts. */
export function pagesWithFields(fields: string | undefined, pages: (query: { fields?: string }) => Pages): Pages {
  return fields === undefined ? pages({}) : withWholeHosts(pages({ fields }), () => pages({}));
}

async function* withWholeHosts(limited: Pages, whole: () => Pages): AsyncGenerator<readonly Host[]> {
  try {
    yield* limited;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    yield* whole();
  }
}
