import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../../platform/core/errors.ts";
import { readSections } from "../../../../settings/app-config/rows.ts";
import { allSections } from "../../../../settings/app-config/sections.ts";
import { checkDefaultTeam, writeChange } from "../../../../settings/app-config/service.ts";
import { dropIntegrations } from "../../../../settings/teams/integrations.ts";
import type { Step } from "../../changes.ts";
import { count, type Work } from "../../work.ts";
import { namingSections, sectionsChanged } from "./value.ts";

export async function writeConfig(work: Work, steps: readonly Step<unknown>[]): Promise<void> {
  if (steps.length === 0) return;
  const before = work.shared.sections!;
  const after = sectionsChanged(work.ctx, before, steps);
  count(
    work,
    steps.filter(({ name }) => !isDeepStrictEqual(before.get(name), after.get(name))),
  );
  await writeChange(work.ctx, before, after, { force: false, integrationsChanged: dropIntegrations }).catch(
    (error: unknown) => {
      throw error instanceof ApiError ? namingSections(error, steps) : error;
    },
  );
}

/** Runs after all kinds: the teams that settings name may have been created or deleted by the same request. */
export async function checkTeams({ ctx }: Work, steps: readonly Step<unknown>[]): Promise<void> {
  const mdmSteps = steps.filter(({ name }) => name === "mdm");
  if (mdmSteps.length === 0) return;
  await checkDefaultTeam(ctx, await readSections(ctx.store, allSections)).catch((error: unknown) => {
    throw error instanceof ApiError ? namingSections(error, mdmSteps) : error;
  });
}
