import { NAME_MAX } from "../../api/labels.ts";
import { builtinLabels } from "../agent/inventory/labels.ts";
import { invalid } from "../core/errors.ts";

/** A label's name as it is kept: composed (NFC), without blanks around it. Names are compared exactly. */
export const labelName = (given: string): string => given.normalize("NFC").trim();

const reserved: ReadonlySet<string> = new Set(builtinLabels.map(({ name }) => name));
/** Names of labels that come with the server. */
export const isReserved = (name: string): boolean => reserved.has(name);

/** The name as it is kept; 422 for one that no label may have. */
export function checkLabelName(given: string, field = "name"): string {
  const name = labelName(given);
  if (name === "") throw invalid(field, "must not be empty");
  if (name.length > NAME_MAX) throw invalid(field, `must have at most ${NAME_MAX} characters`);
  if (/\p{Cc}|\p{Cs}/u.test(name)) throw invalid(field, "must not hold control characters");
  if (isReserved(name)) throw invalid(field, `${JSON.stringify(name)} is the name of a built-in label`);
  return name;
}
