// Compiles the syntax tree of a selector expression to a predicate on hosts.

import { nearest } from "../../../../text/nearest.ts";
import { and, not, or, type Predicate } from "../../../platform/store/query.ts";
import { fields, groups } from "./fields.ts";
import type { Field } from "./kinds.ts";
import { type Expression, SelectorError, type Word } from "./parse.ts";

type Fields = ReadonlyMap<string, Field>;

export const compileExpression = (expression: Expression, now: number): Predicate => compile(expression, fields, now);

function compile(expression: Expression, known: Fields, now: number): Predicate {
  switch (expression.kind) {
    case "and":
      return and(...expression.parts.map((part) => compile(part, known, now)));
    case "or":
      return or(...expression.parts.map((part) => compile(part, known, now)));
    case "not":
      return not(compile(expression.part, known, now));
    case "test":
      return fieldOf(expression.field, known).compile(expression, now);
    case "flag": {
      const { field } = expression;
      const { flag } = fieldOf(field, known);
      if (!flag) throw new SelectorError(expression.end, `expected =, !=, ~ or another comparison after ${field.text}`);
      return flag(now);
    }
    case "group": {
      const { field, part } = expression;
      const group = known === fields ? groups.get(field.text.toLowerCase()) : undefined;
      if (group) return group.wrap(compile(part, group.fields, now));
      const known_ = known === fields ? [...groups.keys()] : [];
      throw new SelectorError(field.at, `${field.text} takes no conditions in parentheses${hint(field.text, known_)}`);
    }
  }
}

function fieldOf({ text, at }: Word, known: Fields): Field {
  const field = known.get(text.toLowerCase());
  if (field) return field;
  throw new SelectorError(at, `there is no field "${text}"${hint(text, known.keys())}`);
}

/** The suggestion for a mistyped name, if a known one is similar. */
export function hint(name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
