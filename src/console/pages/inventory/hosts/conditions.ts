// The conditions of a selector that are joined by "and", to add and remove single ones.

/** The conditions at the top of a selector; a single one if they are joined by "or". */
export function conditionsOf(where: string): readonly string[] {
  const conditions: string[] = [];
  let [from, depth] = [0, 0];
  for (const { 0: token, index } of where.matchAll(/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[()]|[^\s()"']+/g)) {
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (depth === 0 && token.toLowerCase() === "or") return [`(${where.trim()})`];
    else if (depth === 0 && token.toLowerCase() === "and") {
      conditions.push(where.slice(from, index).trim());
      from = index + token.length;
    }
  }
  return [...conditions, where.slice(from).trim()].filter((condition) => condition !== "");
}

/** A word of a selector, in quotes where it needs them. */
export const selectorWord = (text: string): string =>
  /^\w[\w.-]*$/.test(text) && !/^(and|or|not|in|none|null|never)$/i.test(text)
    ? text
    : `"${text.replace(/["\\]/g, "\\$&")}"`;
