// Answers SQL with SQLite, in memory. A table is filled when a query first names it. SQLite runs as WebAssembly, which
// has no access to files, so that a query cannot read or write anything but these tables.
import type { Database, SqlJsStatic, SqlValue } from "sql.js";
import type { Constraint, Table, TableContext } from "../tables/table.ts";
import { constraintsOf } from "./constraints.ts";
import { addFunctions } from "./functions.ts";

export interface SqlAnswer {
  /** SQLite's code; 0 is success. */
  readonly status: number;
  readonly message: string;
  readonly rows: readonly Record<string, string>[];
}

type Tables = ReadonlyMap<string, Table>;
/** What a session knows besides its tables; it is sent to the process that answers queries. */
export type SessionContext = Omit<TableContext, "tables" | "constraints">;

/** Memory for all tables and results of a session. */
const MEMORY_BYTES = 256 * 1024 * 1024;
/** Characters of one result. The server accepts about twice as much in one message. */
const RESULT_MAX = 4_000_000;

/** An option that the library's types do not declare: large integers, and which numbers are integers, are kept. */
interface ExactStatement {
  get(params: null, config: { readonly useBigInt: true }): (SqlValue | bigint)[];
}

let loaded: Promise<SqlJsStatic> | undefined;

async function loadSqlite(): Promise<SqlJsStatic> {
  const { default: load } = await import("sql.js");
  return load();
}

/** Several queries that see the same tables. */
export class Session {
  readonly #db: Database;
  readonly #tables: Tables;
  readonly #context: SessionContext;

  private constructor(db: Database, tables: Tables, context: SessionContext) {
    this.#db = db;
    this.#tables = tables;
    this.#context = context;
  }

  static async open(tables: Tables, context: SessionContext): Promise<Session> {
    loaded ??= loadSqlite();
    const { Database: Opened } = await loaded;
    const db = new Opened();
    db.run(`PRAGMA hard_heap_limit = ${MEMORY_BYTES}`);
    addFunctions(db);
    return new Session(db, tables, context);
  }

  close(): void {
    this.#db.close();
  }

  async answer(sql: string): Promise<SqlAnswer> {
    const names: string[] = [];
    try {
      // Each round adds a table.
      for (;;) {
        try {
          return { status: 0, message: "", rows: this.#run(sql) };
        } catch (error) {
          const table = this.#missing(error);
          if (table === undefined) throw error;
          if (table.findsBy !== undefined) names.push(table.name);
          await this.#fill(table, table.findsBy === undefined ? {} : constraintsOf(sql, table.findsBy));
        }
      }
    } catch (error) {
      return { status: 1, message: (error as Error).message, rows: [] };
    } finally {
      for (const name of names) this.#db.run(`DROP TABLE IF EXISTS "${name}"`);
    }
  }

  /** The table for whose absence the query failed, if it is one of the agent's. */
  #missing(error: unknown): Table | undefined {
    const name = /^no such table: (?:main\.)?(\w+)$/.exec((error as Error).message)?.[1];
    return name === undefined ? undefined : this.#tables.get(name.toLowerCase());
  }

  async #fill(table: Table, constraints: Readonly<Record<string, readonly Constraint[]>>): Promise<void> {
    const names = Object.keys(table.columns);
    const rows = await table.rows({ ...this.#context, tables: [...this.#tables.values()], constraints });
    const columns = names.map((name) => `"${name}" ${table.columns[name]}`).join(", ");
    this.#db.run(`CREATE TABLE "${table.name}" (${columns})`);
    const insert = this.#db.prepare(`INSERT INTO "${table.name}" VALUES (${names.map(() => "?").join(", ")})`);
    this.#db.run("BEGIN");
    // The library binds bigint values, which its types do not declare.
    for (const row of rows) insert.run(names.map((name) => (row[name] ?? null) as SqlValue));
    this.#db.run("COMMIT");
    insert.free();
  }

  /** The rows of the last statement that has any. */
  #run(sql: string): Record<string, string>[] {
    let rows: Record<string, string>[] = [];
    let characters = 0;
    for (const statement of this.#db.iterateStatements(sql)) {
      const names = statement.getColumnNames();
      const records: Record<string, string>[] = [];
      while (statement.step()) {
        const values = (statement as unknown as ExactStatement).get(null, { useBigInt: true });
        const row = names.map((name, i) => [name, sqlText(values[i]!)] as const);
        for (const [name, value] of row) characters += name.length + value.length;
        if (characters > RESULT_MAX)
          throw new Error(`the result is larger than ${RESULT_MAX / 1e6} MB: select fewer rows or columns`);
        records.push(Object.fromEntries(row));
      }
      if (names.length > 0) rows = records;
    }
    return rows;
  }
}

/** Writes a value like osquery does: NULL is an empty text, and a whole real number keeps its fraction. */
function sqlText(value: SqlValue | bigint): string {
  if (value === null) return "";
  if (typeof value === "number") return Number.isInteger(value) ? value.toFixed(1) : String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : String(value);
}
