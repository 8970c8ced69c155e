// Parses selector expressions, such as `platform = darwin and not label in (Lab, "On loan") and seen < 7d`, to a
// syntax tree. The parser knows only the grammar, not the names of fields.

const MAX_LENGTH = 4096;
export const MAX_DEPTH = 20;
export const MAX_TERMS = 100;

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "in";

export interface Word {
  readonly text: string;
  /** A quoted word is never a keyword, a number or a duration. */
  readonly quoted: boolean;
  readonly at: number;
}

interface Span {
  /** Start and end offset in the source text. */
  readonly at: number;
  readonly end: number;
}

export type Expression = Span &
  (
    | { readonly kind: "and" | "or"; readonly parts: readonly Expression[] }
    | { readonly kind: "not"; readonly part: Expression }
    | { readonly kind: "test"; readonly field: Word; readonly operator: Operator; readonly values: readonly Word[] }
    /** A boolean field without an operator. */
    | { readonly kind: "flag"; readonly field: Word }
    /** `software(name = a and version = b)`: one related row must satisfy the whole expression. */
    | { readonly kind: "group"; readonly field: Word; readonly part: Expression }
  );

/** An error in an expression, with its offset in the text. */
export class SelectorError extends Error {
  readonly at: number;

  constructor(at: number, reason: string) {
    super(reason);
    this.at = at;
  }
}

/** The column number for messages: counted from 1, in characters. */
export const columnOf = (text: string, at: number): number => [...text.slice(0, at)].length + 1;

export type Token = Word & { readonly kind: "word" | "sign" | "end"; readonly end: number };

const SIGNS = ["!=", "<=", ">=", "=", "<", ">", "~", "(", ")", ","];
const OPERATORS: ReadonlySet<string> = new Set(["=", "!=", "<", "<=", ">", ">=", "~"]);
const KEYWORDS: ReadonlySet<string> = new Set(["and", "or", "not", "in"]);
const bare = /[^\s()=!<>~,"']+/uy;
const blank = /\s+/uy;

function tokens(text: string): Token[] {
  const parsed: Token[] = [];
  let at = 0;
  while (at < text.length) {
    blank.lastIndex = at;
    const gap = blank.exec(text);
    if (gap) {
      at += gap[0].length;
      continue;
    }
    const token = tokenAt(text, at);
    if (!token) throw new SelectorError(at, `${[...text.slice(at)][0]} is not understood`);
    parsed.push(token);
    at = token.end;
  }
  return [...parsed, { kind: "end", text: "", quoted: false, at: text.length, end: text.length }];
}

/** The token that begins there; null: none can. Throws if it is a text without its closing quote. */
export const tokenAt = (text: string, at: number): Token | null =>
  signAt(text, at) ?? quotedAt(text, at) ?? bareAt(text, at);

function signAt(text: string, at: number): Token | null {
  const sign = SIGNS.find((candidate) => text.startsWith(candidate, at));
  return sign === undefined ? null : { kind: "sign", text: sign, quoted: false, at, end: at + sign.length };
}

function bareAt(text: string, at: number): Token | null {
  bare.lastIndex = at;
  const match = bare.exec(text);
  return match && { kind: "word", text: match[0], quoted: false, at, end: at + match[0].length };
}

/** Whether the text is read as this one word if it stands without quotes. */
export function isBare(text: string): boolean {
  bare.lastIndex = 0;
  return bare.exec(text)?.[0] === text && !KEYWORDS.has(text.toLowerCase());
}

/** Reads text in single or double quotes. A backslash escapes the next character. */
function quotedAt(text: string, at: number): Token | null {
  const quote = text[at];
  if (quote !== '"' && quote !== "'") return null;
  let value = "";
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === quote) return { kind: "word", text: value, quoted: true, at, end: i + 1 };
    if (text[i] === "\\" && i + 1 < text.length) i++;
    value += text[i];
  }
  throw new SelectorError(at, `the text that begins here has no closing ${quote}`);
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;
  #terms = 0;

  constructor(text: string) {
    this.#tokens = tokens(text);
  }

  whole(): Expression {
    const expression = this.#either();
    if (this.#next.kind !== "end") throw this.#unexpected("and, or, or the end");
    return expression;
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #takeToken(): Token {
    return this.#tokens[this.#at++]!;
  }

  #isWord(word: string): boolean {
    const { kind, quoted, text } = this.#next;
    return kind === "word" && !quoted && text.toLowerCase() === word;
  }

  #isSign(sign: string): boolean {
    return this.#next.kind === "sign" && this.#next.text === sign;
  }

  #unexpected(expected: string): SelectorError {
    const { kind, text, at } = this.#next;
    return new SelectorError(at, `expected ${expected} but found ${kind === "end" ? "the end" : `"${text}"`}`);
  }

  #close(): Token {
    if (!this.#isSign(")")) throw this.#unexpected(")");
    return this.#takeToken();
  }

  #either(): Expression {
    return this.#chain("or", () => this.#chain("and", () => this.#operand()));
  }

  #chain(kind: "and" | "or", part: () => Expression): Expression {
    const parts = [part()];
    while (this.#isWord(kind)) {
      this.#takeToken();
      parts.push(part());
    }
    const [first] = parts;
    return parts.length === 1 ? first! : { kind, parts, at: first!.at, end: parts.at(-1)!.end };
  }

  #operand(): Expression {
    if (++this.#depth > MAX_DEPTH) throw new SelectorError(this.#next.at, `nested deeper than ${MAX_DEPTH} levels`);
    const expression = this.#oneHere();
    this.#depth--;
    return expression;
  }

  #oneHere(): Expression {
    const { at } = this.#next;
    if (this.#isWord("not")) {
      this.#takeToken();
      const part = this.#operand();
      return { kind: "not", part, at, end: part.end };
    }
    if (this.#isSign("(")) {
      this.#takeToken();
      const inner = this.#either();
      return { ...inner, at, end: this.#close().end };
    }
    return this.#term();
  }

  #term(): Expression {
    if (++this.#terms > MAX_TERMS) throw new SelectorError(this.#next.at, `more than ${MAX_TERMS} conditions`);
    const field = this.#next;
    if (field.kind !== "word" || field.quoted || KEYWORDS.has(field.text.toLowerCase()))
      throw this.#unexpected("the name of a field");
    this.#takeToken();
    const { at } = field;
    if (this.#isSign("(")) {
      this.#takeToken();
      const part = this.#either();
      return { kind: "group", field, part, at, end: this.#close().end };
    }
    if (this.#isWord("not")) {
      this.#takeToken();
      if (!this.#isWord("in")) throw this.#unexpected("in");
      const part = this.#listTest(field);
      return { kind: "not", part, at, end: part.end };
    }
    if (this.#isWord("in")) return this.#listTest(field);
    if (this.#next.kind === "sign" && OPERATORS.has(this.#next.text)) {
      const operator = this.#takeToken().text as Operator;
      const value = this.#value();
      return { kind: "test", field, operator, values: [value], at, end: value.end };
    }
    return { kind: "flag", field, at, end: field.end };
  }

  #listTest(field: Token): Expression {
    this.#takeToken();
    if (!this.#isSign("(")) throw this.#unexpected("( and a list of values");
    this.#takeToken();
    const values = [this.#value()];
    while (this.#isSign(",")) {
      this.#takeToken();
      values.push(this.#value());
    }
    return { kind: "test", field, operator: "in", values, at: field.at, end: this.#close().end };
  }

  #value(): Token {
    const { kind, quoted, text } = this.#next;
    if (kind !== "word" || (!quoted && KEYWORDS.has(text.toLowerCase()))) throw this.#unexpected("a value");
    return this.#takeToken();
  }
}

/** Parses an expression. Throws a `SelectorError` if the text does not match the grammar or is too large. */
export function parseSelector(text: string): Expression {
  if (text.length > MAX_LENGTH) throw new SelectorError(MAX_LENGTH, `longer than ${MAX_LENGTH} characters`);
  return new Parser(text).whole();
}
