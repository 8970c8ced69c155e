import { isDeepStrictEqual } from "node:util";
import { writeChange } from "../../../app-config/service.ts";
import { ApiError } from "../../../core/errors.ts";
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
  await writeChange(work.ctx, before, after).catch((error: unknown) => {
    throw error instanceof ApiError ? namingSections(error, steps) : error;
  });
}
