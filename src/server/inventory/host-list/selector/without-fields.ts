// Selectors without the conditions on certain fields, for counts that leave out a filter of their own.
import { type Expression, parseSelector } from "./parse.ts";
import { refusing } from "./where.ts";

/** Whether the expression tests these fields and nothing else. */
function isAbout(expression: Expression, fields: readonly string[]): boolean {
  switch (expression.kind) {
    case "and":
    case "or":
      return expression.parts.every((part) => isAbout(part, fields));
    case "not":
      return isAbout(expression.part, fields);
    default:
      return fields.includes(expression.field.text.toLowerCase());
  }
}

const conjuncts = (expression: Expression): readonly Expression[] =>
  expression.kind === "and" ? expression.parts.flatMap(conjuncts) : [expression];

/**
 * The selector without those of its conditions, joined by `and`, that are about these fields only; undefined: nothing
 * is left. A condition that is also about another field stays, because the rest of it has no meaning of its own.
 */
export function withoutFields(text: string, fields: readonly string[], parameter = "where"): string | undefined {
  const expression = refusing(text, parameter, () => parseSelector(text));
  const parts = conjuncts(expression);
  const others = parts.filter((part) => !isAbout(part, fields));
  if (others.length === parts.length) return text;
  return others.length === 0 ? undefined : others.map((part) => text.slice(part.at, part.end)).join(" and ");
}
