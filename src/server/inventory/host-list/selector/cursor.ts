// What a selector that is being typed expects at the cursor. Only the text before the cursor decides.
import { SelectorError, type Token, tokenAt } from "./parse.ts";

export interface CursorPlace {
  /** The characters that a completion replaces: what has been typed of the word, and the rest of it. */
  readonly from: number;
  readonly to: number;
  /** What has been typed of the word, without its quote. */
  readonly typed: string;
  /** The quote that the word begins with; empty: none. */
  readonly quote: string;
  readonly expects: CursorExpectation;
  /** The field before the parenthesis that the cursor is in, such as software; null: none. */
  readonly group: string | null;
  /** Whether a parenthesis of conditions is open. */
  readonly isNested: boolean;
}

export type CursorExpectation =
  | { readonly kind: "operator" | "in" | "list" | "value"; readonly field: string }
  | { readonly kind: "condition" | "next value" | "connective" };

/** The tokens before the offset; the last word is left out if the text ends within it or right after it. */
function tokensBefore(head: string): { tokens: Token[]; word: { from: number; typed: string; quote: string } } {
  const tokens: Token[] = [];
  let at = 0;
  while (at < head.length) {
    if (/\s/.test(head[at]!)) {
      at++;
      continue;
    }
    let token: Token | null;
    try {
      token = tokenAt(head, at);
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      // A quote that is still open.
      return { tokens, word: { from: at, typed: head.slice(at + 1).replace(/\\(.)/g, "$1"), quote: head[at]! } };
    }
    if (token === null || (token.kind === "word" && !token.quoted && token.end === head.length))
      return { tokens, word: { from: at, typed: head.slice(at), quote: "" } };
    tokens.push(token);
    at = token.end;
  }
  return { tokens, word: { from: head.length, typed: "", quote: "" } };
}

/** The end of the word whose beginning is before the cursor. */
function endOfWord(text: string, cursor: number, quote: string): number {
  const rest = text.slice(cursor);
  if (quote === "") return cursor + /^[^\s()=!<>~,"']*/.exec(rest)![0].length;
  // The next quote closes the word only if no other value can begin before it.
  const closing = new RegExp(`^[^"'(),]*${quote}`).exec(rest);
  return cursor + (closing?.[0].length ?? 0);
}

export function placeAt(text: string, cursor: number): CursorPlace {
  const { tokens, word } = tokensBefore(text.slice(0, cursor));
  const state = new TypedSelector();
  for (const token of tokens) state.read(token);
  return {
    ...word,
    to: word.from === cursor ? cursor : endOfWord(text, cursor, word.quote),
    expects: state.expects,
    group: state.group,
    isNested: state.isNested,
  };
}

const isKeyword = ({ kind, quoted, text }: Token, word: string): boolean =>
  kind === "word" && !quoted && text.toLowerCase() === word;

/** Follows the grammar of selectors without refusing anything: what does not fit is ignored. */
class TypedSelector {
  expects: CursorExpectation = { kind: "condition" };
  #field = "";
  #isInList = false;
  /** The open parentheses of conditions, each with its field; null: without a field. */
  readonly #open: (string | null)[] = [];

  get group(): string | null {
    return this.#open.findLast((field) => field !== null) ?? null;
  }

  get isNested(): boolean {
    return this.#open.length > 0;
  }

  read(token: Token): void {
    const { kind } = this.expects;
    if (kind === "condition") this.#readCondition(token);
    else if (kind === "operator") this.#readOperator(token);
    else if (kind === "connective") this.#readConnective(token);
    else if (kind === "in" && isKeyword(token, "in")) this.#beginList();
    else if (kind === "list" && token.text === "(") this.expects = { kind: "value", field: this.#field };
    else if (kind === "value") this.expects = { kind: this.#isInList ? "next value" : "connective" };
    else if (kind === "next value" && token.text === ",") this.expects = { kind: "value", field: this.#field };
    else if (kind === "next value" && token.text === ")") this.#endList();
  }

  #beginList(): void {
    this.#isInList = true;
    this.expects = { kind: "list", field: this.#field };
  }

  #endList(): void {
    this.#isInList = false;
    this.expects = { kind: "connective" };
  }

  #readCondition(token: Token): void {
    if (isKeyword(token, "not")) return;
    if (token.kind === "sign") {
      if (token.text === "(") this.#open.push(null);
      return;
    }
    this.#field = token.text.toLowerCase();
    this.expects = { kind: "operator", field: this.#field };
  }

  #readOperator(token: Token): void {
    const field = this.#field;
    if (token.text === "(" && token.kind === "sign") {
      this.#open.push(field);
      this.expects = { kind: "condition" };
    } else if (isKeyword(token, "not")) this.expects = { kind: "in", field };
    else if (isKeyword(token, "in")) this.#beginList();
    else if (token.kind === "sign" && token.text !== ")" && token.text !== ",") this.expects = { kind: "value", field };
    // A flag has no operator.
    else this.#readConnective(token);
  }

  #readConnective(token: Token): void {
    if (token.kind === "sign" && token.text === ")") {
      this.#open.pop();
      this.expects = { kind: "connective" };
    } else if (isKeyword(token, "and") || isKeyword(token, "or")) this.expects = { kind: "condition" };
  }
}
