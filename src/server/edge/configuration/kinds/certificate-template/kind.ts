import { TEMPLATES } from "../../../../certificates/certificates/specs.ts";
import { isNull } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import { BATCH_SIZE, inPages, ofTier } from "../../shared-rows.ts";
import { type DesiredTemplate, readTemplate, type TemplateRows, templateThings } from "./value.ts";
import { removeTemplates, writeTemplates } from "./write.ts";

/** Templates of hosts without a team belong to the organization, as all controls of these hosts do. */
export const certificateTemplate: Kind<TemplateRows, DesiredTemplate> = {
  name: "certificate_template",
  owners: ["global", "team"],
  per: "many",
  lock: TEMPLATES,
  action: () => "certificates:write",
  async load(ctx) {
    const where = ofTier(ctx, "certificates:write", isNull("team_id"));
    const templates = await inPages(ctx.store.certificateTemplates.pages({ where }, BATCH_SIZE));
    return { templates, authorities: await ctx.store.certificateAuthorities.pick(["id", "name"]) };
  },
  things: templateThings,
  read: (_, { value }) => readTemplate(value),
  write: writeTemplates,
  remove: removeTemplates,
};
