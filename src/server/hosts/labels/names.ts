import { isOneLine, NOT_ONE_LINE } from "../../../api/fields.ts";
import { NAME_MAX } from "../../../api/hosts/labels.ts";
import { invalid } from "../../platform/core/errors.ts";
import { builtinLabels } from "./builtin-labels.ts";

/** A label's name in its stored form: composed (NFC) and trimmed. Names are compared exactly. */
export const labelName = (name: string): string => name.normalize("NFC").trim();

const reserved: ReadonlySet<string> = new Set(builtinLabels.map(({ name }) => name));
/** Whether a built-in label has this name. */
export const isReserved = (name: string): boolean => reserved.has(name);

/** Returns the name in its stored form. 422 for an invalid name. */
export function checkLabelName(input: string, field = "name"): string {
  const name = labelName(input);
  if (name === "") throw invalid(field, "must not be empty");
  if (name.length > NAME_MAX) throw invalid(field, `must have at most ${NAME_MAX} characters`);
  if (!isOneLine(name)) throw invalid(field, NOT_ONE_LINE);
  if (isReserved(name)) throw invalid(field, `${JSON.stringify(name)} is the name of a built-in label`);
  return name;
}
