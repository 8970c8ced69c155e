import { invalid } from "../core/errors.ts";

const reserved = new Set(["no team", "all teams"]);

/** What two names that may not both exist have in common. */
export const nameKey = (name: string): string => name.normalize("NFC").toLowerCase().normalize("NFC");

/** The name as it is kept: NFC, without blanks around it. 422 for one that no team may have. */
export function checkName(given: string): string {
  const name = given.normalize("NFC").trim();
  if (name === "") throw invalid("name", "must not be empty");
  if (/\p{Cc}|\p{Cs}/u.test(name)) throw invalid("name", "must not hold control characters");
  if (reserved.has(nameKey(name))) throw invalid("name", `"${name}" is a reserved team name`);
  return name;
}
