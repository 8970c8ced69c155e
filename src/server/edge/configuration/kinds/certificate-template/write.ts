import { checkAuthority, checkTemplateName, templateNameTaken } from "../../../../certificates/certificates/rules.ts";
import { removeTemplates as deleteRows } from "../../../../certificates/certificates/service.ts";
import { keepTemplate } from "../../../../certificates/certificates/specs.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { eq } from "../../../../platform/store/query.ts";
import { locating } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { ownersOf } from "../../shared-rows.ts";
import { keyOf } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import type { DesiredTemplate, TemplateRows } from "./value.ts";

export async function writeTemplates(work: Work, { steps }: Part<TemplateRows, DesiredTemplate, unknown>) {
  const changed = steps.filter((step) => differs(work, step, step.desired));
  const { ctx, teams } = work;
  for (const step of changed)
    await locating(step, async () => {
      const { certificate_authority_name, subject_name, subject_alternative_name = "" } = step.desired;
      const name = checkTemplateName(step.name, "change.name");
      // This apply may have created it.
      const ca = await ctx.store.certificateAuthorities.first({ where: eq("name", certificate_authority_name) });
      const field = "certificate_authority_name";
      if (!ca) throw invalid(field, `there is no certificate authority ${JSON.stringify(certificate_authority_name)}`);
      checkAuthority(ca, field);
      const team = step.owner === null ? null : teams.get(step.owner)!;
      await templateNameTaken(name, () =>
        keepTemplate(ctx, {
          name,
          team,
          certificate_authority_id: ca.id,
          subject_name,
          subject_alternative_name,
        }),
      );
    });
  count(work, changed);
}

export async function removeTemplates(work: Work, { rows, gone }: Part<TemplateRows, DesiredTemplate, unknown>) {
  const ownerOf = ownersOf(work.shared);
  const templatesByKey = new Map(
    rows.templates.map((row) => [
      keyOf({ kind: "certificate_template", owner: ownerOf(row) ?? null, name: row.name }),
      row,
    ]),
  );
  // Objects of deleted teams are deleted together with the team.
  for (const change of gone)
    if (change.owner === null || !work.leaving.has(change.owner))
      await deleteRows(work.ctx, [templatesByKey.get(keyOf(change))!], change.owner);
  count(work, gone);
}
