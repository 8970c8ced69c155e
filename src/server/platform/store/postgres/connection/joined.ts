// Several statements that are sent together and answered together. Postgres runs them one after the other until one
// fails: it skips the rest up to the Sync at their end (PostgreSQL documentation, "Extended Query"). So they cost one
// round trip, and none runs if one before it has failed, for example BEGIN.
import pg from "pg";

interface NamedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The name under which the statement is prepared on the connection; undefined: it is not. */
  readonly name: string | undefined;
}

interface Connection {
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  execute(config: { portal: string; rows: undefined }): void;
  sync(): void;
  on(event: "parseComplete", listener: () => void): void;
  off(event: "parseComplete", listener: () => void): void;
}

/** What `pg.Query` has beside its documented parts. */
interface Internals {
  text: string | undefined;
  values: readonly unknown[] | undefined;
  name: string | undefined;
  portal: string;
  callback: ((error: Error | null, results: unknown) => void) | undefined;
  prepare(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
}

const Query = pg.Query as unknown as new (config: { text: string; queryMode: "extended" }) => Internals;

class JoinedQuery extends Query {
  /** How long to wait for the answers, in milliseconds; undefined: as the client does. */
  readonly query_timeout: number | undefined;
  readonly #statements: readonly NamedStatement[];
  /** What Postgres has yet to parse, in this order. */
  #parsing: Pick<NamedStatement, "text" | "name">[] = [];
  #hasFailed = false;

  constructor(statements: readonly NamedStatement[], timeout: number | undefined) {
    super({ text: statements[0]!.text, queryMode: "extended" });
    this.#statements = statements;
    this.query_timeout = timeout;
  }

  override prepare(connection: Connection): void {
    const { parsedStatements: parsed, submittedNamedStatements: submitted } = connection;
    const isNew = ({ name }: NamedStatement) => name === undefined || (parsed[name] ?? submitted[name]) === undefined;
    for (const statement of this.#statements) {
      if (isNew(statement)) this.#parsing.push(statement);
      const { text, values, name } = statement;
      Object.assign(this, { text, values, name });
      super.prepare(connection);
      // A value that cannot be sent has ended the query, with its Sync.
      if (this.#hasFailed) return;
    }
    // With a name, the client would take each parsed statement for the named one.
    this.name = undefined;
    connection.on("parseComplete", this.#noteParsed(connection));
    connection.sync();
  }

  /** Called once for each statement; only the last one is followed by a Sync. */
  _getRows(connection: Connection): void {
    connection.execute({ portal: this.portal, rows: undefined });
  }

  override handleError(error: Error, connection: Connection): void {
    this.#hasFailed = true;
    this.#end(connection);
    super.handleError(error, connection);
  }

  override handleReadyForQuery(connection: Connection): void {
    this.#end(connection);
    super.handleReadyForQuery(connection);
  }

  #noted: (() => void) | null = null;

  #noteParsed(connection: Connection): () => void {
    this.#noted = () => {
      const { name, text } = this.#parsing.shift()!;
      if (name === undefined) return;
      connection.parsedStatements[name] = text;
      delete connection.submittedNamedStatements[name];
    };
    return this.#noted;
  }

  /** What was not parsed before an error does not exist on the connection. */
  #end(connection: Connection): void {
    if (this.#noted) connection.off("parseComplete", this.#noted);
    for (const { name } of this.#parsing) if (name !== undefined) delete connection.submittedNamedStatements[name];
    this.#parsing = [];
  }
}

/** Returns a result for each statement. Throws the error of the first one that fails. */
export function runJoined(
  client: pg.ClientBase,
  statements: readonly NamedStatement[],
  timeout: number | undefined,
): Promise<pg.QueryResult[]> {
  return new Promise((done, failed) => {
    const query = new JoinedQuery(statements, timeout);
    query.callback = (error, results) => {
      if (error) failed(error);
      else done(Array.isArray(results) ? results : [results as pg.QueryResult]);
    };
    client.query(query as unknown as pg.Submittable);
  });
}
