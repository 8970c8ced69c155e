// Certificate templates as configuration: written by team and name in one transaction.
import type { TemplateSpec } from "../../../api/certificates/certificates.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { checkLicenseRuns } from "../../platform/core/http/tier.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { and, eq } from "../../platform/store/query.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { authorizeTeam, knowsTeam } from "../../settings/teams/access.ts";
import {
  checkAlternativeName,
  checkAuthority,
  checkSubjectName,
  checkTemplateName,
  templateNameTaken,
} from "./rules.ts";
import { detailsOf } from "./service.ts";

/** The lock of changes of several templates. */
export const TEMPLATES = "certificate templates";

interface DesiredTemplate {
  readonly name: string;
  readonly team: { readonly id: number; readonly name: string } | null;
  readonly certificate_authority_id: number;
  readonly subject_name: string;
  readonly subject_alternative_name: string;
}

export async function applyTemplateSpecs(ctx: Context, specs: readonly TemplateSpec[]): Promise<Record<string, never>> {
  try {
    await templateNameTaken("given", () =>
      ctx.store.tx(
        async (store) => {
          const inside = within(ctx, store);
          for (const desired of await templatesFrom(inside, specs)) await keepTemplate(inside, desired);
        },
        { lock: TEMPLATES },
      ),
    );
  } catch (error) {
    if (error instanceof ReferenceViolation && error.column === "certificate_authority_id")
      throw badRequest("a certificate authority of the specs was deleted meanwhile", "specs");
    throw error;
  }
  return {};
}

async function templatesFrom(ctx: Context, specs: readonly TemplateSpec[]): Promise<DesiredTemplate[]> {
  const templates: DesiredTemplate[] = [];
  const names = new Set<string>();
  for (const [i, spec] of specs.entries()) {
    const at = `specs.${i}`;
    const team = await teamNamed(ctx, spec.team);
    if (team === null) authorize(ctx, "certificates:write", null);
    else authorizeTeam(ctx, "certificates:write", team.id);
    const name = checkTemplateName(spec.name, `${at}.name`);
    const key = `${team?.id ?? 0} ${name}`;
    if (names.has(key)) throw badRequest(`the template ${JSON.stringify(name)} is given twice`, `${at}.name`);
    names.add(key);
    const subject_name = checkSubjectName(spec.subject_name, `${at}.subject_name`);
    const subject_alternative_name = checkAlternativeName(
      spec.subject_alternative_name,
      `${at}.subject_alternative_name`,
    );
    const field = `${at}.certificate_authority_id`;
    const ca = await ctx.store.certificateAuthorities.get(spec.certificate_authority_id);
    if (!ca) throw badRequest(`certificate authority ${spec.certificate_authority_id} was not found`, field);
    checkAuthority(ca, field);
    templates.push({ name, team, certificate_authority_id: ca.id, subject_name, subject_alternative_name });
  }
  return templates;
}

/** Empty or `No team` means no team. 404 for an unknown team name. */
async function teamNamed(ctx: Context, name: string | null | undefined) {
  const key = nameKey((name ?? "").trim());
  if (key === "" || key === "no team") return null;
  const team = await ctx.store.teams.first({ where: eq("name_key", key) });
  if (!team || !knowsTeam(ctx, team.id)) throw notFound("team", name ?? "");
  return team;
}

/** Creates or changes the template with this name, in the caller's transaction. */
export async function keepTemplate(ctx: Context, { name, team, ...content }: DesiredTemplate): Promise<void> {
  const { store, clock } = ctx;
  const team_id = team?.id ?? null;
  const now = clock.iso();
  const before = await store.certificateTemplates.first({ where: and(eq("team_id", team_id), eq("name", name)) });
  if (!before) {
    if (team_id !== null) checkLicenseRuns(ctx);
    const template = { created_at: now, updated_at: now, name, team_id, ...content };
    const row = await store.certificateTemplates.insert(template);
    await store.notify(channels.certificateTemplates, "");
    await recordActivity(ctx, "created_certificate_template", detailsOf(row, team?.name ?? null));
    return;
  }
  const isSame =
    before.certificate_authority_id === content.certificate_authority_id &&
    before.subject_name === content.subject_name &&
    before.subject_alternative_name === content.subject_alternative_name;
  if (isSame) return;
  await store.certificateTemplates.update({
    where: eq("id", before.id),
    set: { ...content, updated_at: now },
  });
  await store.notify(channels.certificateTemplates, "");
  // Existing certificates were issued for other names: hosts must request new ones.
  await store.hostCertificates.update({
    where: eq("template_id", before.id),
    set: { status: "pending", detail: null, updated_at: now },
  });
  await recordActivity(ctx, "edited_certificate_template", detailsOf(before, team?.name ?? null));
}
