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
  const wanted = new Map<Replacement, Step<DesiredSecrets>>();
  for (const step of steps) {
    const teamId = step.owner === null ? null : work.teams.get(step.owner)!.id;
    const existing = rows.get(teamId) ?? [];
    const secrets = await locating(step, () => secretsAfter(step.wanted, existing, work.texts));
    wanted.set({ teamId, existing, secrets }, step);
  }
  const leaving = [...work.leaving].map((name) => work.teams.get(name)!.id);
  const changed = await replaceAll(work.ctx, [...wanted.keys()], leaving, (one, reason) =>
    refusal(wanted.get(one)!, invalid("secrets", reason)),
  );
  count(
    work,
    changed.map((one) => wanted.get(one)!),
  );
  await recordActivities(
    work.ctx,
    "edited_enroll_secrets",
    changed.map((one) => ({ team_id: one.teamId, team_name: wanted.get(one)!.owner })),
  );
}
