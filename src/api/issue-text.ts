// Validation errors of schemas in plain words.
import type { z } from "zod";

const MOST_VALUES = 20;

/** Describes what is wrong with the value. Messages that a schema defines itself are returned unchanged. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (!/^(?:Too small|Too big|Invalid option|Invalid input): expected /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return issue.message.endsWith("received undefined") ? "is required" : `must be ${aType(issue.expected)}`;
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
      return issue.values.length > MOST_VALUES ? issue.message : `must be ${anyOf(issue.values.map(valueText))}`;
    default:
      return issue.message;
  }
}

type Issue = z.core.$ZodIssue;

/**
 * The problems themselves, where a value may be of several forms: those of the form that the value comes closest to. A
 * union alone would report `Invalid input` for the whole value.
 */
export const plainIssues = (issues: readonly Issue[]): Issue[] => issues.flatMap(plainIssue);

function plainIssue(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const forms = issue.errors.map(plainIssues);
  const near = forms
    .filter((form) => !form.some(isOfOtherType))
    .sort((candidate, other) => depthOf(other) - depthOf(candidate));
  return (near[0] ?? typesOf(issue, forms)).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

const isOfOtherType = ({ code, path }: Issue): boolean => code === "invalid_type" && path.length === 0;
const depthOf = (form: readonly Issue[]): number => Math.max(...form.map(({ path }) => path.length));

/** No form has the value's type. */
function typesOf({ input }: Issue, forms: readonly Issue[][]): Issue[] {
  const [first] = forms[0]!;
  if (input === undefined) return [first!];
  const types = forms.flat().flatMap((inner) => (inner.code === "invalid_type" ? [aType(inner.expected)] : []));
  return [{ code: "custom", message: `must be ${[...new Set(types)].join(" or ")}`, path: [], input }];
}

function bound(of: string, how: "at least" | "at most" | "exactly", size: number, inclusive: boolean): string {
  const things = of === "string" ? "character" : ["array", "set", "map"].includes(of) ? "item" : null;
  if (things !== null) return `must have ${how} ${size} ${things}${size === 1 ? "" : "s"}`;
  return inclusive ? `must be ${how} ${size}` : `must be ${how === "at most" ? "less" : "more"} than ${size}`;
}

/** The usual name of a type, for error messages. */
export const typeName = (expected: string): string =>
  expected === "int" ? "integer" : expected === "record" ? "object" : expected;

function aType(expected: string): string {
  const type = typeName(expected);
  if (type === "integer") return "a whole number";
  if (type === "boolean") return "true or false";
  if (type === "array") return "a list";
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

const valueText = (value: unknown): string => (value === "" ? "empty" : String(value));

const anyOf = (values: readonly string[]): string => (values.length === 1 ? values[0]! : `one of ${values.join(", ")}`);

/** The JSON type of a value. */
export const jsonType = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
