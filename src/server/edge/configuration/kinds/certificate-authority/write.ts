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
  asked: CheckedSteps,
): Promise<void> {
  for (const step of steps) {
    const one = asked.get(step);
    if (!one) continue;
    await locating(step, () => nameTaken(step.wanted.name, () => keepSteps(work.ctx, [one])));
    count(work, [step]);
  }
}

export async function removeAuthorities(
  work: Work,
  authorities: readonly CaRow[],
  given: readonly RequestedChange[],
): Promise<void> {
  const rows = new Map(authorities.map((row): [string, CaRow] => [row.name, row]));
  for (const one of given) await locating(one, () => removeCa(work.ctx, rows.get(typeAndName(one.name).name)!));
  count(work, given);
}
