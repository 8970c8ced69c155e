// The examples in the help of every command, as argument lists.
import type { Config } from "@oclif/core";

export interface Example {
  /** The command's id, e.g. `hosts:list`. */
  readonly id: string;
  /** The text in help. */
  readonly text: string;
  /** The words after `svc`, without redirections. */
  readonly argv: readonly string[];
  /** The file after `<`. */
  readonly stdin: string | null;
}

/** Splits words like a shell, with the quotes that the examples use. */
const split = (text: string): string[] =>
  [...text.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));

function read(id: string, template: string): Example {
  const text = template.replaceAll("<%= config.bin %>", "svc").replaceAll("<%= command.id %>", id.replaceAll(":", " "));
  const [, ...words] = split(text);
  const from = words.indexOf("<");
  const redirect = words.findIndex((word) => word === "<" || word === ">");
  return {
    id,
    text,
    argv: redirect === -1 ? words : words.slice(0, redirect),
    stdin: from === -1 ? null : (words[from + 1] ?? null),
  };
}

/** Commands that run a server, work on its data, or take long: their examples need the built binary. */
export const needsBinary = (id: string): boolean =>
  id === "serve" || /^agent:(run|simulate|install|uninstall|package|status|logs)$/.test(id) || id.startsWith("db:");

export const examplesOf = ({ commands }: Config): Example[] =>
  commands.flatMap(({ id, examples = [] }) =>
    examples.map((example) => read(id, typeof example === "string" ? example : example.command)),
  );
