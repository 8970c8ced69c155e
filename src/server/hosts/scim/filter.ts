// Filters of lists and of paths (RFC 7644, section 3.4.2.2): attributes equal to values, joined by `and`.
import { scimUrns } from "../../../api/hosts/scim.ts";
import { scimError } from "./errors.ts";

/** `type eq "work"`; attribute names are in lower case and without the schema. */
export interface Condition {
  readonly attribute: string;
  readonly value: string;
  /** Within a value of `attribute`: `emails[type eq "work"].value eq "x"`. */
  readonly of?: readonly Condition[];
}

const MAX_CONDITIONS = 10;
const CORE = [scimUrns.user, scimUrns.group].map((urn) => `${urn}:`.toLowerCase());

/** Attribute names ignore case, and may begin with the name of the core schema. */
export function attributeName(text: string): string {
  const name = text.toLowerCase();
  return name.slice(CORE.find((urn) => name.startsWith(urn))?.length ?? 0);
}

const word = /^\s*([A-Za-z$][\w$.:-]*)/;
const operator = /^\s+([A-Za-z]+)\s+/;
const literal = /^("(?:[^"\\]|\\.)*"|true|false|-?\d+(?:\.\d+)?)/i;

/** Throws `invalidFilter` for what is not such a filter. */
export function parseFilter(text: string): Condition[] {
  const conditions: Condition[] = [];
  let rest = text.trim();
  const bad = (reason: string) => scimError("invalidFilter", `the filter ${JSON.stringify(text)} ${reason}`);
  const takeMatch = (pattern: RegExp, what: string): string => {
    const match = pattern.exec(rest);
    if (match === null) throw bad(`has no ${what} at ${JSON.stringify(rest.slice(0, 40))}`);
    rest = rest.slice(match[0].length);
    return match[1]!;
  };
  for (;;) {
    let attribute = attributeName(takeMatch(word, "attribute"));
    let of: Condition[] | undefined;
    if (rest.startsWith("[")) {
      const end = closing(rest);
      if (end === -1) throw bad("has no ] for its [");
      of = parseFilter(rest.slice(1, end));
      rest = rest.slice(end + 1);
      const sub = /^\.([A-Za-z$][\w$-]*)/.exec(rest);
      if (sub) {
        attribute = `${attribute}.${sub[1]!.toLowerCase()}`;
        rest = rest.slice(sub[0].length);
      }
    }
    const comparison = takeMatch(operator, "operator").toLowerCase();
    if (comparison !== "eq") throw bad(`has the operator ${comparison}; only eq is supported`);
    conditions.push({ attribute, value: literalOf(takeMatch(literal, "value")), ...(of === undefined ? {} : { of }) });
    if (rest.trim() === "") return conditions;
    if (conditions.length === MAX_CONDITIONS) throw bad("is too long");
    const joint = takeMatch(/^\s+([A-Za-z]+)(?=\s)/, "and");
    if (joint.toLowerCase() !== "and") throw bad(`has the operator ${joint}; only and is supported`);
  }
}

function literalOf(written: string): string {
  if (!written.startsWith('"')) return written.toLowerCase();
  try {
    return String(JSON.parse(written));
  } catch {
    throw scimError("invalidFilter", `${written} is not a text`);
  }
}

/** The position of the bracket that closes the first one; brackets in texts do not count. */
export function closing(text: string): number {
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isText && sign === "\\") at++;
    else if (sign === '"') isText = !isText;
    else if (sign === "]" && !isText) return at;
  }
  return -1;
}
