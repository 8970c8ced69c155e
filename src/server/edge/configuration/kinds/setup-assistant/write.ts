import { teamKey } from "../../../../devices/apple/portal/assign.ts";
import {
  dropAssistant,
  keepAssistant,
  type SetupAssistantRow,
  tryProfile,
} from "../../../../devices/apple/portal/assistants.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { eq } from "../../../../platform/store/query.ts";
import { locating, refusal, type Step } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { keyOf } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import type { DesiredAssistant } from "./value.ts";

/** The portal alone knows all rules. It may not know the teams yet, which matter to none of them. */
export async function tryAssistants(ctx: Context, steps: readonly Step<DesiredAssistant>[], skip: boolean) {
  if (skip) return;
  for (const step of steps) await locating(step, () => tryProfile(ctx, step.desired.enrollment_profile, null));
}

const teamNamed = ({ teams }: Work, owner: string | null) => (owner === null ? null : teams.get(owner)!);

const rowOf = ({ ctx }: Work, team: { readonly id: number } | null): Promise<SetupAssistantRow | null> =>
  ctx.store.setupAssistants.first({ where: eq("team_key", teamKey(team?.id ?? null)) });

export async function writeAssistants(
  work: Work,
  { steps, gone }: Part<readonly SetupAssistantRow[], DesiredAssistant, void>,
): Promise<void> {
  const changed = steps.filter((step) => differs(work, step, step.desired));
  const leaving = new Set(gone.map(keyOf));
  const owners = new Set<string | null>();
  for (const step of changed) {
    const team = teamNamed(work, step.owner);
    const before = await rowOf(work, team);
    // A file with another name takes the place of the one before, which the same request deletes.
    const isFree = before === null || before.name === step.name || leaving.has(keyOf({ ...step, name: before.name }));
    if (!isFree || owners.has(step.owner))
      throw refusal(step, invalid("change.name", "there is another setup assistant profile already: delete it first"));
    owners.add(step.owner);
    const { enrollment_profile } = step.desired;
    await keepAssistant(work.ctx, team, { name: step.name, enrollment_profile });
  }
  count(work, changed);
}

export async function removeAssistants(
  work: Work,
  { gone }: Part<readonly SetupAssistantRow[], DesiredAssistant, void>,
): Promise<void> {
  for (const change of gone) {
    // Objects of deleted teams are deleted together with the team.
    if (change.owner !== null && work.leaving.has(change.owner)) continue;
    const team = teamNamed(work, change.owner);
    const row = await rowOf(work, team);
    if (row?.name === change.name) await dropAssistant(work.ctx, team, row);
  }
  count(work, gone);
}
