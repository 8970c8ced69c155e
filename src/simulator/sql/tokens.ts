export type Token =
  | { kind: "word"; text: string; upper: string }
  | { kind: "name"; text: string }
  | { kind: "string"; text: string }
  | { kind: "number"; value: number }
  | { kind: "sign"; text: string };

export class SqlError extends Error {}

const PATTERN =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^']|'')*')|("(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_][\w$]*)|(<>|!=|<=|>=|==|\|\||[-+*/%(),.;=<>])/y;

export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < sql.length) {
    const at = PATTERN.lastIndex;
    const match = PATTERN.exec(sql);
    if (!match) throw new SqlError(`unrecognized token: "${sql.slice(at, at + 10)}"`);
    const [, text, quoted, number, word, sign] = match;
    if (text !== undefined) tokens.push({ kind: "string", text: text.slice(1, -1).replaceAll("''", "'") });
    else if (quoted !== undefined) tokens.push({ kind: "name", text: quoted.slice(1, -1).replaceAll('""', '"') });
    else if (number !== undefined) tokens.push({ kind: "number", value: Number(number) });
    else if (word !== undefined) tokens.push({ kind: "word", text: word, upper: word.toUpperCase() });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
  }
  return tokens;
}
