import type { CaRow } from "../../../../certificates/ca/rules.ts";
import { nameTaken, removeCa } from "../../../../certificates/ca/service.ts";
import { type Step as CaStep, keepSteps } from "../../../../certificates/ca/specs.ts";
import { locating, type RequestedChange, type Step } from "../../changes.ts";
import { count, type Work } from "../../work.ts";
import { type DesiredAuthorityValue, typeAndName } from "./value.ts";

/** The results of the checks before the transaction. A step that changes nothing has no entry. */
export type CheckedSteps = ReadonlyMap<RequestedChange, CaStep>;

export async function writeAuthorities(
  work: Work,
  steps: readonly Step<DesiredAuthorityValue>[],
  caSteps: CheckedSteps,
): Promise<void> {
  for (const step of steps) {
    const caStep = caSteps.get(step);
    if (!caStep) continue;
    await locating(step, () => nameTaken(step.desired.name, () => keepSteps(work.ctx, [caStep])));
    count(work, [step]);
  }
}

export async function removeAuthorities(
  work: Work,
  authorities: readonly CaRow[],
  changes: readonly RequestedChange[],
): Promise<void> {
  const rows = new Map(authorities.map((row): [string, CaRow] => [row.name, row]));
  for (const change of changes)
    await locating(change, () => removeCa(work.ctx, rows.get(typeAndName(change.name).name)!));
  count(work, changes);
}
