import { isOneLine, NOT_ONE_LINE } from "../../api/fields.ts";
import { invalid } from "../core/errors.ts";

const reserved = new Set(["no team", "all teams"]);

/** Team names with the same key are considered equal. */
export const nameKey = (name: string): string => name.normalize("NFC").toLowerCase().normalize("NFC");

/** Returns the name in its stored form (NFC, trimmed). 422 for an invalid name. */
export function checkName(given: string): string {
  const name = given.normalize("NFC").trim();
  if (name === "") throw invalid("name", "must not be empty");
  if (!isOneLine(name)) throw invalid("name", NOT_ONE_LINE);
  if (reserved.has(nameKey(name))) throw invalid("name", `"${name}" is a reserved team name`);
  return name;
}
