import { isOneLine, NOT_ONE_LINE } from "../../../api/fields.ts";
import { invalid } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";

const reserved = new Set(["no team", "all teams"]);

/** Returns the name in its stored form (NFC, trimmed). 422 for an invalid name. */
export function checkName(input: string): string {
  const name = input.normalize("NFC").trim();
  if (name === "") throw invalid("name", "must not be empty");
  if (!isOneLine(name)) throw invalid("name", NOT_ONE_LINE);
  if (reserved.has(nameKey(name))) throw invalid("name", `"${name}" is a reserved team name`);
  return name;
}
