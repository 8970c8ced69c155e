// Validation of certificate templates, and who may see which.
import type { Action } from "../../../api/access.ts";
import { type CertificateTemplate, TEMPLATE_NAME_MAX } from "../../../api/certificates/certificates.ts";
import { parseAlternativeNames, writeAlternativeNames } from "../../../pki/alternative-names.ts";
import { BadName, parseName } from "../../../pki/names.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, badRequest, forbidden, invalid, notFound } from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { CaRow } from "../ca/rules.ts";
import { type HostVariable, unknownVariable } from "../ca/variables.ts";
import type { certificateTemplates } from "./tables.ts";

export type TemplateRow = RowOf<typeof certificateTemplates>;

/** The variables that templates may use. */
const variables: readonly HostVariable[] = ["HOST_UUID", "HOST_HARDWARE_SERIAL", "HOST_END_USER_IDP_USERNAME"];

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must match control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function checkTemplateName(input: string, field = "name"): string {
  const name = input.normalize("NFC").trim();
  if (name === "") throw invalid(field, "must not be empty");
  if (CONTROL.test(name)) throw invalid(field, "must not contain control characters");
  if (name.length > TEMPLATE_NAME_MAX) throw invalid(field, `must have at most ${TEMPLATE_NAME_MAX} characters`);
  return name;
}

/** 400 for a variable that cannot be used, 422 for an invalid subject name. */
export function checkSubjectName(input: string, field = "subject_name"): string {
  const subject = input.trim();
  checkNames(subject, field, () => parseName(subject));
  return subject;
}

/** Checks subject alternative names, and returns them in the form in which they are kept. */
export function checkAlternativeName(input: string | undefined, field = "subject_alternative_name"): string {
  const text = (input ?? "").trim();
  checkNames(text, field, () => parseAlternativeNames(text));
  return writeAlternativeNames(parseAlternativeNames(text));
}

function checkNames(text: string, field: string, parse: () => unknown): void {
  const unknown = unknownVariable(text, variables);
  if (unknown !== null)
    throw badRequest(
      `${unknown} cannot be used here; supported are ${variables.map((name) => `$SVC_VAR_${name}`).join(", ")}`,
      field,
    );
  try {
    parse();
  } catch (error) {
    if (error instanceof BadName) throw invalid(field, error.message);
    throw error;
  }
}

export function checkAuthority(ca: CaRow, field = "certificate_authority_id"): void {
  if (ca.type !== "custom_scep_proxy")
    throw badRequest(`templates require a custom_scep_proxy authority; the authority ${ca.id} is a ${ca.type}`, field);
}

/** Names are unique within a team: 409, also if a concurrent request took the name first. */
export async function templateNameTaken<R>(name: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UniqueViolation && error.table === "certificate_templates") throw taken(name);
    throw error;
  }
}
export const taken = (name: string) =>
  alreadyExists(`a certificate template with the name ${name} exists on that team`);

/** 404 if the caller may not learn that the template exists. */
export async function getTemplateRow(ctx: Context, action: Action, id: number): Promise<TemplateRow> {
  const row = await ctx.store.certificateTemplates.get(id);
  if (!row) throw notFound("certificate template", id);
  if (may(ctx.user, action, row.team_id)) return row;
  const knows = ctx.user.global_role !== null || ctx.user.teams.some((team) => team.id === row.team_id);
  throw knows ? forbidden() : notFound("certificate template", id);
}

export const templateOf = (row: TemplateRow, ca: Pick<CaRow, "name">): CertificateTemplate => ({
  id: row.id,
  name: row.name,
  certificate_authority_id: row.certificate_authority_id,
  certificate_authority_name: ca.name,
  subject_name: row.subject_name,
  subject_alternative_name: row.subject_alternative_name,
  created_at: row.created_at,
});
