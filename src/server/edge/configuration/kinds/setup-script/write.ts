import { z } from "zod";
import { insertSetupScript, removeSetupScript, scriptOfTeam } from "../../../../delivery/setup-experience/script.ts";
import type { SetupScriptRow } from "../../../../delivery/setup-experience/tables.ts";
import { alreadyExists, invalid } from "../../../../platform/core/errors.ts";
import type { TeamScope } from "../../../../settings/teams/access.ts";
import { locating } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { count, differs, type Work } from "../../work.ts";

/** The content only by its digest. */
export const Value = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" }),
});

export interface SetupScriptRows {
  readonly scripts: readonly SetupScriptRow[];
  /** By the id of the text. */
  readonly digests: ReadonlyMap<number, string>;
}

export interface DesiredSetupScript {
  readonly value: z.output<typeof Value>;
  /** Undefined if the request does not contain it. */
  readonly text: string | undefined;
}

export const KIND = "setup_script";

const scopeOf = ({ teams }: Work, owner: string | null): TeamScope => ({
  team_id: owner === null ? null : teams.get(owner)!.id,
  team_name: owner,
});

/** Another script, or the same under another name, takes the place of the one that an owner has. */
export async function writeSetupScripts(
  work: Work,
  { steps, gone }: Part<SetupScriptRows, DesiredSetupScript, unknown>,
): Promise<void> {
  const { ctx } = work;
  const changed = steps.filter((step) => differs(work, step, step.desired.value));
  const leaving = new Set(gone.map(({ owner }) => owner));
  const changing = new Set<string | null>();
  for (const step of changed)
    await locating(step, async () => {
      const { owner, name, desired, action } = step;
      if (changing.has(owner)) throw invalid("base", "hosts run only one script in their setup");
      changing.add(owner);
      const team = scopeOf(work, owner);
      const before = await scriptOfTeam(ctx.store, team.team_id);
      if (before && action === "create" && !leaving.has(owner))
        throw alreadyExists(`there is another setup script: ${before.name}`);
      const { text } = desired;
      if (text === undefined) throw invalid("sha256", "the request does not contain the file with this digest");
      if (before) await removeSetupScript(ctx, team, before);
      await insertSetupScript(ctx, team, { name, text, field: "value" });
    });
  // Objects of deleted teams are deleted together with the team.
  for (const change of gone) {
    if (changing.has(change.owner) || (change.owner !== null && work.leaving.has(change.owner))) continue;
    const team = scopeOf(work, change.owner);
    const before = await scriptOfTeam(ctx.store, team.team_id);
    if (before) await removeSetupScript(ctx, team, before);
  }
  count(work, [...changed, ...gone]);
}
