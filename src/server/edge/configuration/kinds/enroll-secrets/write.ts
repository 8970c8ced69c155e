import { recordActivities } from "../../../../platform/activities/record.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { type Replacement, replaceAll } from "../../../../settings/enroll-secrets/service.ts";
import { locating, refusal, type Step } from "../../changes.ts";
import { count, type Work } from "../../work.ts";
import { byTeam, type DesiredSecrets, type SecretRow, secretsAfter } from "./value.ts";

export async function writeSecrets(
  work: Work,
  existingRows: readonly SecretRow[],
  steps: readonly Step<DesiredSecrets>[],
): Promise<void> {
  if (steps.length === 0) return;
  const rows = byTeam(existingRows);
  const stepsByReplacement = new Map<Replacement, Step<DesiredSecrets>>();
  for (const step of steps) {
    const teamId = step.owner === null ? null : work.teams.get(step.owner)!.id;
    const existing = rows.get(teamId) ?? [];
    const secrets = await locating(step, () => secretsAfter(step.desired, existing, work.texts));
    stepsByReplacement.set({ teamId, existing, secrets }, step);
  }
  const leaving = [...work.leaving].map((name) => work.teams.get(name)!.id);
  const changed = await replaceAll(work.ctx, [...stepsByReplacement.keys()], leaving, (replacement, reason) =>
    refusal(stepsByReplacement.get(replacement)!, invalid("secrets", reason)),
  );
  count(
    work,
    changed.map((replacement) => stepsByReplacement.get(replacement)!),
  );
  await recordActivities(
    work.ctx,
    "edited_enroll_secrets",
    changed.map((replacement) => ({
      team_id: replacement.teamId,
      team_name: stepsByReplacement.get(replacement)!.owner,
    })),
  );
}
