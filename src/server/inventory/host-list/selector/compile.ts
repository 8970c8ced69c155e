// Compiles the syntax tree of a selector expression to a predicate on hosts.

import { nearest } from "../../../../text/nearest.ts";
import { and, not, or, type Predicate } from "../../../platform/store/query.ts";
import { fields, groups } from "./fields.ts";
import type { Field } from "./kinds.ts";
import { type Expression, SelectorError, type Word } from "./parse.ts";

type Fields = ReadonlyMap<string, Field>;

export const compileExpression = (expression: Expression, now: number): Predicate => compile(expression, fields, now);

function compile(expression: Expression, fieldsByName: Fields, now: number): Predicate {
  switch (expression.kind) {
    case "and":
      return and(...expression.parts.map((part) => compile(part, fieldsByName, now)));
    case "or":
      return or(...expression.parts.map((part) => compile(part, fieldsByName, now)));
    case "not":
      return not(compile(expression.part, fieldsByName, now));
    case "test":
      return fieldOf(expression.field, fieldsByName).compile(expression, now);
    case "flag": {
      const { field } = expression;
      const { flag } = fieldOf(field, fieldsByName);
      if (!flag) throw new SelectorError(expression.end, `expected =, !=, ~ or another comparison after ${field.text}`);
      return flag(now);
    }
    case "group": {
      const { field, part } = expression;
      const group = fieldsByName === fields ? groups.get(field.text.toLowerCase()) : undefined;
      if (group) return group.wrap(compile(part, group.fields, now));
      const known_ = fieldsByName === fields ? [...groups.keys()] : [];
      throw new SelectorError(field.at, `${field.text} takes no conditions in parentheses${hint(field.text, known_)}`);
    }
  }
}

function fieldOf({ text, at }: Word, fieldsByName: Fields): Field {
  const field = fieldsByName.get(text.toLowerCase());
  if (field) return field;
  throw new SelectorError(at, `there is no field "${text}"${hint(text, fieldsByName.keys())}`);
}

/** The suggestion for a mistyped name, if a known one is similar. */
export function hint(name: string, candidates: Iterable<string>): string {
  const near = nearest(name, candidates);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
