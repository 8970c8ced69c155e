import type { Item, Query, Select, Source } from "./ast.ts";
import { ExpressionParser } from "./parse-expression.ts";
import { SqlError, tokenize } from "./tokens.ts";

const CLAUSES = new Set(
  "WHERE GROUP HAVING ORDER LIMIT OFFSET UNION ON USING JOIN LEFT INNER CROSS OUTER NATURAL EXCEPT INTERSECT".split(
    " ",
  ),
);

/**
 * Parses one SELECT statement with joins, sub-selects, grouping and UNION, as servers send them. Anything else throws
 * SqlError.
 */
export function parseQuery(sql: string): Query {
  const parser = new QueryParser(tokenize(sql), sql);
  const query = parser.query();
  parser.sign(";");
  parser.end();
  return query;
}

class QueryParser extends ExpressionParser {
  override query(): Query {
    const selects = [this.#select()];
    let all = true;
    while (this.word("UNION")) {
      if (!this.word("ALL")) all = false;
      selects.push(this.#select());
    }
    const orderBy: Query["orderBy"] = [];
    if (this.word("ORDER")) {
      this.need("BY");
      do {
        const expr = this.expression();
        if (this.word("COLLATE")) this.anyName();
        const descending = this.word("DESC");
        if (!descending) this.word("ASC");
        orderBy.push({ expr, descending });
      } while (this.sign(","));
    }
    const limit = this.word("LIMIT") ? this.expression() : null;
    const offset = limit && this.word("OFFSET") ? this.expression() : null;
    return { selects, all, orderBy, limit, offset };
  }

  #select(): Select {
    this.need("SELECT");
    const distinct = this.word("DISTINCT");
    if (!distinct) this.word("ALL");
    const items: Item[] = [];
    do items.push(this.#item());
    while (this.sign(","));
    const sources = this.word("FROM") ? this.#sources() : [];
    const where = this.word("WHERE") ? this.expression() : null;
    const groupBy = this.#groupBy();
    const having = this.word("HAVING") ? this.expression() : null;
    return { distinct, items, sources, where, groupBy, having };
  }

  #groupBy() {
    if (!this.word("GROUP")) return [];
    this.need("BY");
    return this.list();
  }

  #item(): Item {
    if (this.sign("*")) return { kind: "star", source: null };
    const star = this.qualifiedStar();
    if (star !== null) return { kind: "star", source: star };
    const from = this.position;
    const expr = this.expression();
    const to = this.position;
    if (this.word("AS")) return { kind: "expr", expr, name: this.anyName() };
    const alias = this.aliasUnless(CLAUSES);
    if (alias !== null) return { kind: "expr", expr, name: alias };
    return { kind: "expr", expr, name: expr.kind === "column" ? expr.name : this.textBetween(from, to) };
  }

  #sources(): Source[] {
    const sources = [this.#source(false)];
    for (;;) {
      if (this.sign(",")) {
        sources.push(this.#source(false));
        continue;
      }
      const left = this.word("LEFT");
      const kind = left ? this.word("OUTER") : this.word("INNER") || this.word("CROSS");
      if (!this.word("JOIN")) {
        if (left || kind) throw new SqlError("syntax error near JOIN");
        return sources;
      }
      const source = this.#source(left);
      if (this.word("ON")) source.on = this.expression();
      else if (this.word("USING")) {
        this.needSign("(");
        do source.using.push(this.anyName());
        while (this.sign(","));
        this.needSign(")");
      }
      sources.push(source);
    }
  }

  #source(left: boolean): Source {
    let from: Source["from"];
    let name = "";
    if (this.sign("(")) {
      from = { query: this.query() };
      this.needSign(")");
    } else {
      name = this.anyName().toLowerCase();
      if (this.sign(".")) name = this.anyName().toLowerCase();
      from = { table: name };
    }
    const alias = this.word("AS") ? this.anyName() : this.aliasUnless(CLAUSES);
    return { from, alias: (alias ?? name).toLowerCase(), left, on: null, using: [] };
  }
}
