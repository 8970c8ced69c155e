import type { CaRow } from "../../ca/rules.ts";
import { nameTaken, removeCa } from "../../ca/service.ts";
import { type Step as CaStep, keepSteps } from "../../ca/specs.ts";
import { type Given, locating, type Step } from "../changes.ts";
import { type AuthorityWanted, typeAndName } from "../kinds/ca.ts";
import { count, type Work } from "../work.ts";

/** The results of the checks before the transaction. A step that changes nothing has no entry. */
export type Asked = ReadonlyMap<Given, CaStep>;

export async function writeAuthorities(
  work: Work,
  steps: readonly Step<AuthorityWanted>[],
  asked: Asked,
): Promise<void> {
  for (const step of steps) {
    const one = asked.get(step);
    if (!one) continue;
    await locating(step, () => nameTaken(step.wanted.name, () => keepSteps(work.ctx, [one])));
    count(work, [step]);
  }
}

export async function removeAuthorities(work: Work, given: readonly Given[]): Promise<void> {
  const rows = new Map(work.held.authorities.map((row): [string, CaRow] => [row.name, row]));
  for (const one of given) await locating(one, () => removeCa(work.ctx, rows.get(typeAndName(one.name).name)!));
  count(work, given);
}
