// Rows as a text of the user's own: `{hostname}: {os_version}`.
import { printable } from "../../text/printable.ts";
import { usage } from "../errors.ts";
import { valueAt } from "./fields.ts";
import { cell } from "./text.ts";

type Part = { readonly text: string } | { readonly field: string };

export interface Template {
  readonly parts: readonly Part[];
  readonly fields: readonly string[];
}

const TOKEN = /\{\{|\}\}|\{[a-zA-Z_][\w.-]*\}|\\[nt\\]|[^{}\\]+|[{}\\]/g;
const escapes: Readonly<Record<string, string>> = { "{{": "{", "}}": "}", "\\n": "\n", "\\t": "\t", "\\\\": "\\" };

/** `{{` and `}}` are braces; `\n` and `\t` are a line feed and a tab. */
export function parseTemplate(text: string): Template {
  const parts = (text.match(TOKEN) ?? []).map((token): Part => {
    if (token === "{" || token === "}")
      throw usage(
        "--template: a brace does not belong to a field",
        "A field is {hostname} or {team.name}; {{ and }} are braces.",
      );
    if (token.length > 2 && token.startsWith("{")) return { field: token.slice(1, -1) };
    return { text: escapes[token] ?? token };
  });
  return { parts, fields: parts.flatMap((part) => ("field" in part ? [part.field] : [])) };
}

/** The text of one row, and a line feed. */
export const fillTemplate = ({ parts }: Template, row: unknown): string =>
  `${parts.map((part) => ("field" in part ? printable(cell(valueAt(row, part.field))) : part.text)).join("")}\n`;
