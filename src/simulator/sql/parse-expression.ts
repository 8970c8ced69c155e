import type { Expr, Query } from "./ast.ts";
import { SqlError, type Token } from "./tokens.ts";

const COMPARE = new Set(["=", "==", "<>", "!=", "<", "<=", ">", ">="]);
const RESERVED = new Set(
  "SELECT FROM WHERE AND OR GROUP ORDER LIMIT UNION JOIN ON THEN WHEN ELSE END AS WITH".split(" "),
);

/** A recursive descent parser with SQLite's operator precedence. The statement parser implements `query`. */
export abstract class ExpressionParser {
  readonly #tokens: Token[];
  readonly #sql: string;
  protected position = 0;

  constructor(tokens: Token[], sql: string) {
    this.#tokens = tokens;
    this.#sql = sql;
  }

  abstract query(): Query;

  expression(): Expr {
    let left = this.#conjunction();
    while (this.word("OR")) left = { kind: "binary", op: "OR", left, right: this.#conjunction() };
    return left;
  }

  list(): Expr[] {
    const list = [this.expression()];
    while (this.sign(",")) list.push(this.expression());
    return list;
  }

  word(upper: string): boolean {
    const token = this.#tokens[this.position];
    if (token?.kind !== "word" || token.upper !== upper) return false;
    this.position++;
    return true;
  }

  sign(text: string): boolean {
    const token = this.#tokens[this.position];
    if (token?.kind !== "sign" || token.text !== text) return false;
    this.position++;
    return true;
  }

  need(upper: string): void {
    if (!this.word(upper)) this.fail();
  }

  needSign(text: string): void {
    if (!this.sign(text)) this.fail();
  }

  end(): void {
    if (this.position < this.#tokens.length) this.fail();
  }

  anyName(): string {
    const token = this.#tokens[this.position++];
    if (token?.kind === "word" || token?.kind === "name" || token?.kind === "string") return token.text;
    return this.fail();
  }

  /** An alias without AS, unless the next word starts a clause. */
  aliasUnless(clauses: Set<string>): string | null {
    const token = this.#tokens[this.position];
    if (token?.kind !== "name" && !(token?.kind === "word" && !clauses.has(token.upper) && !RESERVED.has(token.upper)))
      return null;
    this.position++;
    return token.text;
  }

  qualifiedStar(): string | null {
    const [first, dot, star] = this.#tokens.slice(this.position, this.position + 3);
    if (!(dot?.kind === "sign" && dot.text === "." && star?.kind === "sign" && star.text === "*")) return null;
    if (first?.kind !== "word" && first?.kind !== "name") return null;
    this.position += 3;
    return first.text.toLowerCase();
  }

  /** SQLite names an unnamed column after its source text. */
  textBetween(from: number, to: number): string {
    return this.#tokens
      .slice(from, to)
      .map((token) =>
        token.kind === "number" ? String(token.value) : token.kind === "string" ? `'${token.text}'` : token.text,
      )
      .join("");
  }

  fail(): never {
    const token = this.#tokens[this.position];
    if (!token) throw new SqlError(`incomplete input in ${this.#sql.length} characters`);
    throw new SqlError(`near "${token.kind === "number" ? token.value : token.text}": syntax error`);
  }

  #conjunction(): Expr {
    let left = this.#negation();
    while (this.word("AND")) left = { kind: "binary", op: "AND", left, right: this.#negation() };
    return left;
  }

  #negation(): Expr {
    return this.word("NOT") ? { kind: "unary", op: "NOT", operand: this.#negation() } : this.#comparison();
  }

  #comparison(): Expr {
    let left = this.#sum();
    for (;;) {
      const token = this.#tokens[this.position];
      if (token?.kind === "sign" && COMPARE.has(token.text)) {
        this.position++;
        left = { kind: "binary", op: token.text, left, right: this.#sum() };
        continue;
      }
      if (this.word("IS")) {
        left = this.#is(left);
        continue;
      }
      if (this.word("ISNULL")) {
        left = { kind: "is-null", operand: left, not: false };
        continue;
      }
      const before = this.position;
      const not = this.word("NOT");
      const next = this.#membership(left, not);
      if (!next) {
        this.position = before;
        return left;
      }
      left = next;
    }
  }

  #is(left: Expr): Expr {
    const not = this.word("NOT");
    if (this.word("NULL")) return { kind: "is-null", operand: left, not };
    return { kind: "binary", op: not ? "IS NOT" : "IS", left, right: this.#sum() };
  }

  #membership(operand: Expr, not: boolean): Expr | null {
    if (this.word("IN")) {
      this.needSign("(");
      const list = this.#startsQuery() ? this.query() : this.sign(")") ? [] : this.list();
      if (!Array.isArray(list) || list.length > 0) this.needSign(")");
      return { kind: "in", operand, list, not };
    }
    for (const glob of [false, true]) {
      if (!this.word(glob ? "GLOB" : "LIKE")) continue;
      const pattern = this.#sum();
      if (this.word("ESCAPE")) this.#sum();
      return { kind: "like", operand, pattern, not, glob };
    }
    if (this.word("BETWEEN")) {
      const low = this.#sum();
      this.need("AND");
      return { kind: "between", operand, low, high: this.#sum(), not };
    }
    return null;
  }

  #sum(): Expr {
    return this.#chain(["+", "-"], () => this.#chain(["*", "/", "%"], () => this.#chain(["||"], () => this.#unary())));
  }

  #chain(ops: string[], next: () => Expr): Expr {
    let left = next();
    for (;;) {
      const op = ops.find((op) => this.sign(op));
      if (!op) return left;
      left = { kind: "binary", op, left, right: next() };
    }
  }

  #unary(): Expr {
    if (this.sign("-")) return { kind: "unary", op: "-", operand: this.#unary() };
    if (this.sign("+")) return this.#unary();
    const operand = this.#primary();
    if (this.word("COLLATE")) this.anyName();
    return operand;
  }

  #primary(): Expr {
    const token = this.#tokens[this.position];
    if (!token) return this.fail();
    if (token.kind === "string") {
      this.position++;
      return { kind: "literal", value: token.text };
    }
    if (token.kind === "number") {
      this.position++;
      return { kind: "literal", value: token.value };
    }
    if (this.sign("(")) {
      const inner: Expr = this.#startsQuery() ? { kind: "scalar", query: this.query() } : this.expression();
      this.needSign(")");
      return inner;
    }
    if (token.kind === "sign") return this.fail();
    if (token.kind === "word") {
      if (this.word("NULL")) return { kind: "literal", value: null };
      if (this.word("TRUE")) return { kind: "literal", value: 1 };
      if (this.word("FALSE")) return { kind: "literal", value: 0 };
      if (this.word("CASE")) return this.#caseOf();
      if (this.word("CAST")) return this.#cast();
      if (this.word("EXISTS")) {
        this.needSign("(");
        const query = this.query();
        this.needSign(")");
        return { kind: "exists", query };
      }
      if (RESERVED.has(token.upper)) return this.fail();
    }
    return this.#columnOrCall();
  }

  #columnOrCall(): Expr {
    const name = this.anyName();
    if (this.sign("(")) return this.#call(name.toLowerCase());
    if (this.sign(".")) return { kind: "column", source: name.toLowerCase(), name: this.anyName() };
    return { kind: "column", source: null, name };
  }

  #call(name: string): Expr {
    if (this.sign("*")) {
      this.needSign(")");
      return { kind: "call", name, args: [], star: true, distinct: false };
    }
    const distinct = this.word("DISTINCT");
    const args = this.sign(")") ? null : this.list();
    if (args) this.needSign(")");
    return { kind: "call", name, args: args ?? [], star: false, distinct };
  }

  #caseOf(): Expr {
    const subject = this.word("WHEN") ? null : this.expression();
    if (subject) this.need("WHEN");
    const branches: { when: Expr; result: Expr }[] = [];
    do {
      const when = this.expression();
      this.need("THEN");
      branches.push({ when, result: this.expression() });
    } while (this.word("WHEN"));
    const otherwise = this.word("ELSE") ? this.expression() : null;
    this.need("END");
    return { kind: "case", subject, branches, otherwise };
  }

  #cast(): Expr {
    this.needSign("(");
    const operand = this.expression();
    this.need("AS");
    const type = this.anyName().toUpperCase();
    this.needSign(")");
    return { kind: "cast", operand, type };
  }

  #startsQuery(): boolean {
    const token = this.#tokens[this.position];
    return token?.kind === "word" && token.upper === "SELECT";
  }
}
