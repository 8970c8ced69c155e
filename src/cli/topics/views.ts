// Columns and flags of saved views of lists.
import * as Flags from "@oclif/core/flags";
import { sharings, type View, View as ViewSchema } from "../../api/settings/views.ts";
import { usage } from "../errors.ts";
import { listOf } from "../flags.ts";
import type { View as OutputView } from "../output/output.ts";

const queryText = (value: unknown): string =>
  typeof value === "object" && value !== null ? new URLSearchParams(value as Record<string, string>).toString() : "";

export const viewView: OutputView = {
  schema: () => ViewSchema,
  columns: [
    { key: "id" },
    { key: "page" },
    { key: "name" },
    { key: "query", text: queryText },
    { key: "columns" },
    { key: "shared" },
    { key: "team_id", header: "team" },
    { key: "created_by.name", header: "author" },
  ],
};

export const viewFlags = {
  name: Flags.string({ summary: "Name." }),
  query: Flags.string({
    summary: "Parameter of the list; can be given several times.",
    helpValue: "NAME=VALUE",
    multiple: true,
  }),
  columns: Flags.string({
    summary: "Columns, separated by commas; empty for those that each user has chosen.",
    helpValue: "COLUMN,COLUMN",
  }),
  shared: Flags.option({ options: sharings })({ summary: "Who may read it (me)." }),
};

interface ViewFlags {
  readonly name?: string | undefined;
  readonly query?: readonly string[] | undefined;
  readonly columns?: string | undefined;
  readonly shared?: View["shared"] | undefined;
}

/** The fields of the body that the flags give. */
export function viewFields({ name, query, columns, shared }: ViewFlags): Record<string, unknown> {
  const fields: Record<string, unknown> = { name, shared };
  if (query !== undefined) fields.query = Object.fromEntries(query.map(parameterOf));
  if (columns !== undefined) fields.columns = columns.trim() === "" ? null : listOf([columns]);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function parameterOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw usage(`--query: ${text} is not NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
