// Selector expressions for every selection of hosts: lists, counts, reports, labels by criteria and live queries.
import type { Context } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import type { Predicate } from "../../../platform/store/query.ts";
import { compileExpression } from "./compile.ts";
import { columnOf, type Expression, parseSelector, SelectorError } from "./parse.ts";

/** Relative times use this clock. Names are resolved when the predicate is evaluated, not when it is compiled. */
type WhereDeps = Pick<Context, "clock">;

/**
 * The hosts that the expression matches, among all hosts: the caller must narrow it to the visible ones. An invalid
 * expression is a 400 that names `parameter`, the column and the most similar known field.
 */
export const compileWhere = (text: string, deps: WhereDeps, parameter = "where"): Predicate =>
  refusing(text, parameter, () => compileExpression(parseSelector(text), deps.clock.now()));

/** A part of an expression: its source text, its predicate and its own parts. */
export interface WherePart {
  readonly text: string;
  readonly picks: Predicate;
  readonly parts: readonly WherePart[];
}

/** The expression with every part that can match or not by itself. */
export const partsOfWhere = (text: string, deps: WhereDeps, parameter = "where"): WherePart =>
  refusing(text, parameter, () => {
    const now = deps.clock.now();
    const partOf = (expression: Expression): WherePart => ({
      text: text.slice(expression.at, expression.end),
      picks: compileExpression(expression, now),
      parts:
        expression.kind === "and" || expression.kind === "or"
          ? expression.parts.map(partOf)
          : expression.kind === "not"
            ? [partOf(expression.part)]
            : [],
    });
    return partOf(parseSelector(text));
  });

/** Does the work; an error in the expression becomes a 400 that names the parameter. */
export function refusing<T>(text: string, parameter: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw badRequest(`Invalid ${parameter}: column ${columnOf(text, error.at)}: ${error.message}`, parameter);
  }
}
