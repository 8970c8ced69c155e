// What the caller has read must be as it was: else nothing of what it asks for is done.
import type { Pin } from "../../api/configuration.ts";
import { ApiError, type FieldError } from "../core/errors.ts";
import { inTurns } from "../core/parts.ts";
import { MOST_TOLD, told } from "./changes.ts";
import { keyOf, revisionOf, type Thing } from "./values.ts";

/** 409 that names what moved; `pins.N` is the place in the request. */
export async function checkPins(pins: readonly Pin[], current: ReadonlyMap<string, Thing>, key: string): Promise<void> {
  const errors: FieldError[] = [];
  let moved = 0;
  for await (const [i, pin] of inTurns(pins.entries())) {
    const thing = current.get(keyOf(pin));
    const revision = thing ? revisionOf(key, thing) : null;
    if (revision === pin.revision) continue;
    moved++;
    if (errors.length >= MOST_TOLD) continue;
    const how = revision === null ? "is gone" : pin.revision === null ? "is there now" : "has changed";
    errors.push({ name: `pins.${i}`, reason: `${told(pin)} ${how} since it was read` });
  }
  if (moved === 0) return;
  if (moved > errors.length) errors.push({ name: "pins", reason: `${moved - errors.length} more have moved` });
  throw new ApiError(409, "Conflict", errors);
}
