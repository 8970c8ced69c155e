// Optimistic lock: the apply is refused if anything that the caller has read has changed.
import type { Pin } from "../../../api/edge/configuration.ts";
import { inTurns } from "../../platform/core/concurrency/parts.ts";
import { changedMeanwhile, type FieldError } from "../../platform/core/errors.ts";
import { describeThing, MAX_LISTED } from "./changes.ts";
import { configurationKind } from "./kinds.ts";
import { keyOf, revisionOf, type Thing } from "./values.ts";

/** 409 that names the changed objects. `pins.N` is the index in the request. */
export async function checkPins(pins: readonly Pin[], current: ReadonlyMap<string, Thing>, key: string): Promise<void> {
  const errors: FieldError[] = [];
  let moved = 0;
  for await (const [i, pin] of inTurns(pins.entries())) {
    const thing = current.get(keyOf(pin));
    const revision = thing ? revisionOf(key, thing) : null;
    if (revision === pin.revision) continue;
    moved++;
    if (errors.length >= MAX_LISTED) continue;
    const how = revision === null ? "was deleted" : pin.revision === null ? "was created" : "has changed";
    errors.push({
      name: `pins.${i}`,
      reason: `${describeThing(pin, configurationKind(pin))} ${how} since it was read`,
    });
  }
  if (moved === 0) return;
  if (moved > errors.length) errors.push({ name: "pins", reason: `${moved - errors.length} more have changed` });
  throw changedMeanwhile(...errors);
}
