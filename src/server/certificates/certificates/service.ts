import type { z } from "zod";
import type {
  CertificateTemplate,
  CreateTemplate,
  certificatesApi,
  WholeTemplate,
} from "../../../api/certificates/certificates.ts";
import { MASK } from "../../../api/fields.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { recordActivities, recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { byId } from "../../platform/core/maps.ts";
import { authorize, inTeam, visible } from "../../platform/core/security/access.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { getTeamRow } from "../../settings/teams/access.ts";
import { teamName } from "../../settings/teams/reads.ts";
import { type CaRow, getCaRow } from "../ca/rules.ts";
import { valuesOf } from "../ca/variables.ts";
import { namesFor, ownTemplate } from "./hosts.ts";
import {
  checkAlternativeName,
  checkAuthority,
  checkSubjectName,
  checkTemplateName,
  getTemplateRow,
  type TemplateRow,
  taken,
  templateNameTaken,
  templateOf,
} from "./rules.ts";

type List = z.output<(typeof certificatesApi)["list"]["query"]>;

export async function listTemplates(ctx: Context, query: List) {
  const { team, team_id: teamId, ...paging } = query;
  const { rows, meta } = await page(ctx.store.certificateTemplates, paging, await chosen(ctx, team, teamId));
  const cas = await authoritiesOf(ctx, rows);
  const certificates = rows.map((row) => templateOf(row, cas.get(row.certificate_authority_id)!));
  return { certificates: ctx.host ? await filled(ctx, ctx.host.id, certificates) : certificates, meta };
}

/**
 * For a host, the templates of its team. Otherwise those of the given team; without one, those for hosts without a
 * team.
 */
async function chosen(ctx: Context, team: number | undefined, teamId: number | undefined) {
  if (ctx.host) return eq("team_id", ctx.host.team_id);
  if (team !== undefined && teamId !== undefined && team !== teamId)
    throw badRequest("team and team_id are the same parameter: give one of them", "team");
  const scope = team ?? teamId;
  if (scope !== undefined) authorize(ctx, "certificates:read", scope === 0 ? null : scope);
  return and(inTeam(scope ?? 0), visible(ctx, "certificates:read"));
}

/**
 * Templates with a variable that the host lacks are left out, because the host cannot request a certificate for them.
 */
async function filled(ctx: Context, hostId: number, templates: readonly CertificateTemplate[]) {
  const values = await valuesOf(ctx, hostId);
  if (!values) return [];
  return templates.flatMap((template) => {
    const { names, missing } = namesFor(template, values);
    return missing.length > 0 ? [] : [{ ...template, ...names }];
  });
}

async function authoritiesOf({ store }: Context, rows: readonly TemplateRow[]): Promise<ReadonlyMap<number, CaRow>> {
  const ids = [...new Set(rows.map((row) => row.certificate_authority_id))];
  const authorities = await store.certificateAuthorities.list({ where: oneOf("id", ids) });
  return byId(authorities);
}

export async function getTemplate(
  ctx: Context,
  id: number,
  hostId: number | undefined,
): Promise<{ certificate: WholeTemplate }> {
  if (ctx.host) return ownTemplate(ctx, ctx.host, id);
  const row = await getTemplateRow(ctx, "certificates:read", id);
  const ca = await getCaRow(ctx, row.certificate_authority_id);
  const shown = {
    ...templateOf(row, ca),
    certificate_authority_type: ca.type,
    team_id: row.team_id,
    scep_challenge: MASK,
    svc_challenge: null,
  };
  if (hostId === undefined) return { certificate: { ...shown, status: null } };
  // A user who may read the team's templates may also see the values of its hosts that appear in them.
  const host = await hostOfTeam(ctx, hostId, row);
  const [standing] = await ctx.store.hostCertificates.pick(["status"], {
    where: and(eq("host_id", host.id), eq("template_id", id)),
  });
  const values = await valuesOf(ctx, host.id);
  const named = values && namesFor(row, values);
  return {
    certificate: {
      ...shown,
      ...named?.names,
      status: named?.missing.length === 0 ? (standing?.status ?? "pending") : "failed",
    },
  };
}

async function hostOfTeam(ctx: Context, id: number, template: TemplateRow) {
  const host = await hostFor(ctx, "hosts:identify", id);
  if (host.team_id !== template.team_id) throw badRequest("the template is not for the team of this host", "host_id");
  return host;
}

export async function createTemplate(ctx: Context, input: CreateTemplate) {
  const teamId = input.team_id || null;
  if (teamId !== null) needPremium(ctx);
  authorize(ctx, "certificates:write", teamId);
  const name = checkTemplateName(input.name);
  const subject_name = checkSubjectName(input.subject_name);
  const subject_alternative_name = checkAlternativeName(input.subject_alternative_name);
  return templateNameTaken(name, () =>
    withoutGoneAuthority(input.certificate_authority_id, () =>
      ctx.store.tx(async (store) => {
        const inside = within(ctx, store);
        const team = teamId === null ? null : await getTeamRow(inside, "certificates:write", teamId);
        const ca = await getCaRow(inside, input.certificate_authority_id);
        checkAuthority(ca);
        const twin = await store.certificateTemplates.first({ where: and(eq("team_id", teamId), eq("name", name)) });
        if (twin) throw taken(name);
        const now = ctx.clock.iso();
        const row = await store.certificateTemplates.insert({
          created_at: now,
          updated_at: now,
          name,
          team_id: teamId,
          certificate_authority_id: ca.id,
          subject_name,
          subject_alternative_name,
        });
        await store.notify(channels.certificateTemplates, "");
        await recordActivity(inside, "created_certificate_template", detailsOf(row, team?.name ?? null));
        return { id: row.id, name, certificate_authority_id: ca.id, subject_name };
      }),
    ),
  );
}

/** The authority may be deleted between the check and the insert. */
async function withoutGoneAuthority<R>(id: number, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReferenceViolation && error.column === "certificate_authority_id")
      throw notFound("certificate authority", id);
    throw error;
  }
}

export async function deleteTemplate(ctx: Context, id: number): Promise<Record<string, never>> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const row = await getTemplateRow(inside, "certificates:write", id);
    if ((await store.certificateTemplates.delete(eq("id", id))) === 0) throw notFound("certificate template", id);
    await store.notify(channels.certificateTemplates, "");
    await recordActivity(
      inside,
      "deleted_certificate_template",
      detailsOf(row, await teamName(inside.store, row.team_id)),
    );
  });
  return {};
}

/** All templates must belong to that team, otherwise none is deleted. */
export async function deleteTemplates(
  ctx: Context,
  templateIds: readonly number[],
  teamId: number | null,
): Promise<Record<string, never>> {
  authorize(ctx, "certificates:write", teamId);
  const ids = [...new Set(templateIds)];
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const rows = await store.certificateTemplates.list({ where: and(oneOf("id", ids), eq("team_id", teamId)) });
    const existing = new Set(rows.map(({ id }) => id));
    const missing = ids.find((id) => !existing.has(id));
    if (missing !== undefined) throw notFound("certificate template", missing);
    await removeTemplates(inside, rows, await teamName(inside.store, teamId));
  });
  return {};
}

/** Deletes templates of one team in the caller's transaction. */
export async function removeTemplates(
  inside: Context,
  rows: readonly TemplateRow[],
  team: string | null,
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await inside.store.certificateTemplates.delete(oneOf("id", ids));
  await inside.store.notify(channels.certificateTemplates, "");
  await recordActivities(
    inside,
    "deleted_certificate_template",
    rows.map((row) => detailsOf(row, team)),
  );
}

export const detailsOf = (row: Pick<TemplateRow, "id" | "name" | "team_id">, team_name: string | null) => ({
  certificate_template_id: row.id,
  certificate_name: row.name,
  team_id: row.team_id,
  team_name,
});
