// Lists of a form, which requests replace as a whole: what others have added and removed meanwhile is sent too.
import { ApiCallError } from "../../../client/errors.ts";
import { mergedList } from "../../../text/merged-list.ts";

interface ListChange {
  readonly before: unknown;
  readonly after: unknown;
  readonly stored: unknown;
}

/**
 * The list for a request, from the list that the user began with, what the user made of it, and what is stored now. A text
 * is a list with an item on each line. Throws what is shown beside the field with this name.
 */
export function listToSend(name: string, { before, after, stored }: ListChange): unknown {
  const isText = typeof after === "string";
  const [old, desired, current] = [before, after, stored].map(itemsOf);
  const merged = mergedList(old!, desired!, current!);
  if (merged === null) throw changedMeanwhile(name);
  return isText ? merged.join("\n") : merged;
}

/** Whether both values are lists of which somebody has changed one. */
export const isListChange = ({ before, after }: Pick<ListChange, "before" | "after">): boolean =>
  Array.isArray(before) && Array.isArray(after);

const itemsOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : String(value ?? "")
        .split("\n")
        .filter((line) => line.trim() !== "");

const changedMeanwhile = (name: string): ApiCallError =>
  new ApiCallError(409, "Changed meanwhile", {
    errors: [
      {
        name,
        reason: "somebody else has changed or removed an entry that is changed here: close this form and open it again",
      },
    ],
  });
