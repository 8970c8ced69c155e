// SQL composed of parts and compiled to text with numbered parameters, which `pg` executes. Every statement is built
// this way, so that it has to cost little: a part only knows how to append itself.

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Draft {
  text: string;
  readonly values: unknown[];
}

/** A part of a statement, or a whole one. */
export abstract class Sql {
  abstract appendTo(draft: Draft): void;
}

class Template extends Sql {
  private readonly texts: readonly string[];
  private readonly parts: readonly unknown[];

  constructor(texts: readonly string[], parts: readonly unknown[]) {
    super();
    this.texts = texts;
    this.parts = parts;
  }

  override appendTo(draft: Draft): void {
    const { texts, parts } = this;
    draft.text += texts[0]!;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      if (part instanceof Sql) part.appendTo(draft);
      else draft.text += `$${draft.values.push(part)}`;
      draft.text += texts[i + 1]!;
    }
  }
}

class Text extends Sql {
  private readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override appendTo(draft: Draft): void {
    draft.text += this.text;
  }
}

class Joined extends Sql {
  private readonly parts: readonly Sql[];
  private readonly separator: Sql;

  constructor(parts: readonly Sql[], separator: Sql) {
    super();
    this.parts = parts;
    this.separator = separator;
  }

  override appendTo(draft: Draft): void {
    this.parts.forEach((part, i) => {
      if (i > 0) this.separator.appendTo(draft);
      part.appendTo(draft);
    });
  }
}

const quoted = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;

const literal = (value: string | number | boolean | null): string =>
  typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);

const COMMA = new Text(", ");

/** A template: values become parameters, parts of SQL are inserted. */
export const sql = Object.assign(
  (texts: TemplateStringsArray, ...parts: readonly unknown[]): Sql => new Template(texts, parts),
  {
    /** An identifier, which may be qualified: `id("t0", "name")`. */
    id: (...identifiers: readonly string[]): Sql => new Text(identifiers.map(quoted).join(".")),
    join: (parts: readonly Sql[], separator: Sql = COMMA): Sql => new Joined(parts, separator),
    /** A value in the text itself. Never for values of callers. */
    lit: (value: string | number | boolean | null): Sql => new Text(literal(value)),
    /** Text as it is. Never for values of callers. */
    raw: (text: string): Sql => new Text(text),
  },
);

export function compile(query: Sql): Statement {
  const draft: Draft = { text: "", values: [] };
  query.appendTo(draft);
  return draft;
}

/** The text of a statement without parameters. */
export const textOf = (query: Sql): string => compile(query).text;

export const list = (parts: readonly Sql[]): Sql => sql.join(parts);
export const allOf = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`true` : parts.length === 1 ? parts[0]! : sql`(${sql.join(parts, AND)})`;
export const anyOf = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`false` : parts.length === 1 ? parts[0]! : sql`(${sql.join(parts, OR)})`;
/** A column of the row with this alias. */
export const col = (alias: string, column: string): Sql => sql.id(alias, column);
export const name = (identifier: string): Sql => sql.id(identifier);

const AND = new Text(" AND ");
const OR = new Text(" OR ");
