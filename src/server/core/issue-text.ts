// What a schema refuses, in plain words.
import type { z } from "zod";

const MOST_VALUES = 20;

/** What is wrong with the value, in plain words; what a schema says in words of its own stays as it is. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (!/^(?:Too small|Too big|Invalid option|Invalid input): expected /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "too_small":
      if (issue.origin !== "number" && issue.minimum === 1 && !issue.exact) return "must not be empty";
      return bound(
        issue.origin,
        issue.exact ? "exactly" : "at least",
        Number(issue.minimum),
        issue.inclusive !== false,
      );
    case "too_big":
      return bound(issue.origin, issue.exact ? "exactly" : "at most", Number(issue.maximum), issue.inclusive !== false);
    case "invalid_value":
      return issue.values.length > MOST_VALUES ? issue.message : `must be ${anyOf(issue.values.map(String))}`;
    default:
      return issue.message;
  }
}

function bound(of: string, how: "at least" | "at most" | "exactly", size: number, inclusive: boolean): string {
  const things = of === "string" ? "character" : ["array", "set", "map"].includes(of) ? "item" : null;
  if (things !== null) return `must have ${how} ${size} ${things}${size === 1 ? "" : "s"}`;
  return inclusive ? `must be ${how} ${size}` : `must be ${how === "at most" ? "less" : "more"} than ${size}`;
}

/** A schema's word for a type, as people say it. */
export const typeName = (expected: string): string =>
  expected === "int" ? "integer" : expected === "record" ? "object" : expected;

const anyOf = (values: readonly string[]): string => (values.length === 1 ? values[0]! : `one of ${values.join(", ")}`);
