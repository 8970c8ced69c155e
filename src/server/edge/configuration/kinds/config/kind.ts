import { ApiError } from "../../../../platform/core/errors.ts";
import { readSections } from "../../../../settings/app-config/rows.ts";
import { allSections } from "../../../../settings/app-config/sections.ts";
import { askServices } from "../../../../settings/app-config/service.ts";
import type { Kind } from "../../kind.ts";
import { configDefaults, configThings, desiredSections, namingSections, optionsOf, readSection } from "./value.ts";
import { checkTeams, writeConfig } from "./write.ts";

export const config: Kind<null, unknown, void> = {
  name: "config",
  owners: ["global"],
  per: "section",
  noun: "configuration section",
  action: () => "config:write",
  load: async () => null,
  things: (_, { sections }) => (sections ? configThings(sections) : []),
  defaults: () => ({ config: configDefaults() }),
  read: (_, change, texts) => readSection(change, texts),
  async prepare(ctx, steps, skip) {
    const asking = steps.filter(({ name }) => ["integrations", "sso_settings", "mdm"].includes(name));
    if (asking.length === 0 || skip) return;
    const desiredConfig = desiredSections(await readSections(ctx.store, allSections), asking);
    await askServices(ctx, desiredConfig, optionsOf(asking)).catch((error: unknown) => {
      throw error instanceof ApiError ? namingSections(error, asking) : error;
    });
  },
  write: (work, { steps }) => writeConfig(work, steps),
  remove: (work, { steps }) => checkTeams(work, steps),
};
