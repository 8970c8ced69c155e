import { removeScripts } from "../../../../delivery/scripts/remove.ts";
import { putScripts } from "../../../../delivery/scripts/replace.ts";
import { recordActivity } from "../../../../platform/activities/record.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { locating, refusal } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { ownersOf } from "../../shared-rows.ts";
import { keyOf } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import type { DesiredScript, ScriptRows } from "./value.ts";

const rowsByKey = (work: Work, { scripts }: ScriptRows) => {
  const ownerOf = ownersOf(work.shared);
  return new Map(scripts.map((row) => [keyOf({ kind: "script", owner: ownerOf(row) ?? null, name: row.name }), row]));
};

const teamNamed = ({ teams }: Work, owner: string | null) => ({
  team_id: owner === null ? null : teams.get(owner)!.id,
  team_name: owner,
});

export async function writeScripts(work: Work, { rows, steps, gone }: Part<ScriptRows, DesiredScript, unknown>) {
  const changed = steps.filter((step) => differs(work, step, step.desired.value));
  const scriptsByKey = rowsByKey(work, rows);
  for (const step of changed) {
    const { text } = step.desired;
    if (text === undefined)
      throw refusal(step, invalid("sha256", "the request does not contain the file with this digest"));
    const row = scriptsByKey.get(keyOf(step));
    await locating(step, () =>
      putScripts(work.ctx, teamNamed(work, step.owner), row ? [row] : [], [{ name: step.name, text, field: "value" }]),
    );
  }
  const owners = new Set([...changed, ...gone].map(({ owner }) => owner));
  for (const owner of owners)
    if (owner === null || !work.leaving.has(owner))
      await recordActivity(work.ctx, "edited_script", teamNamed(work, owner));
  count(work, changed);
}

/** After policies have been written, which may run a script that is deleted no more. */
export async function deleteScripts(work: Work, { rows, gone }: Part<ScriptRows, DesiredScript, unknown>) {
  const scriptsByKey = rowsByKey(work, rows);
  // Objects of deleted teams are deleted together with the team.
  for (const change of gone)
    if (change.owner === null || !work.leaving.has(change.owner))
      await locating(change, () => removeScripts(work.ctx.store, [scriptsByKey.get(keyOf(change))!]));
  count(work, gone);
}
