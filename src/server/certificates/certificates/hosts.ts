// Certificate templates from the view of a host's agent: with the host's values and the status on the host.
import type { z } from "zod";
import type { certificateAgentApi, WholeTemplate } from "../../../api/certificates/certificates.ts";
import { renewalTime } from "../../../pki/renewal.ts";
import { recordHostActivity } from "../../platform/activities/by-host.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { limit } from "../../platform/core/limits.ts";
import { and, eq } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { getCaRow } from "../ca/rules.ts";
import { fillAlternativeNames, fillName, type HostValues, valuesOf } from "../ca/variables.ts";
import type { CallingHost } from "../host-authentication/node-key.ts";
import { giveChallenge } from "./challenges.ts";
import { type TemplateRow, templateOf } from "./rules.ts";
import type { hostCertificates } from "./tables.ts";

/** 404 if there is no such template, 403 if it belongs to another team. */
async function templateFor(ctx: Context, host: CallingHost, id: number): Promise<TemplateRow> {
  const row = await ctx.store.certificateTemplates.get(id);
  if (!row) throw notFound("certificate template", id);
  if (row.team_id !== host.team_id) throw forbidden();
  return row;
}

/**
 * The agent enrols after it has read the template, so reading sets it to delivered, or to failed if the host lacks a
 * value.
 */
export async function ownTemplate(
  ctx: Context,
  host: CallingHost,
  id: number,
): Promise<{ certificate: WholeTemplate }> {
  const row = await templateFor(ctx, host, id);
  const ca = await getCaRow(ctx, row.certificate_authority_id);
  const values = await valuesOf(ctx, host.id);
  if (!values) throw notFound("host", host.id);
  const { names, missing } = namesFor(row, values);
  const { status, challenge } = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const settled = await storeStatus(inside, host.id, id, missing);
      return { status: settled, challenge: settled === "delivered" ? await giveChallenge(inside, host.id, id) : null };
    },
    { lock: `certificates of host ${host.id}` },
  );
  return {
    certificate: {
      ...templateOf(row, ca),
      ...names,
      certificate_authority_type: ca.type,
      team_id: row.team_id,
      status,
      // Only while the agent still has to enrol.
      scep_challenge: challenge === null ? null : ca.secret,
      svc_challenge: challenge,
    },
  };
}

type Names = Pick<TemplateRow, "subject_name" | "subject_alternative_name">;

/** The names with the host's values; with variables, if it lacks one. */
export function namesFor(row: Names, values: HostValues): { names: Names; missing: readonly string[] } {
  const { subject_name, subject_alternative_name } = row;
  const subject = fillName(subject_name, values);
  const others = fillAlternativeNames(subject_alternative_name, values);
  const missing = [...new Set([...subject.missing, ...others.missing])];
  return missing.length > 0
    ? { names: { subject_name, subject_alternative_name }, missing }
    : { names: { subject_name: subject.text, subject_alternative_name: others.text }, missing };
}

const LACKING = "The host has no value for ";

async function storeStatus({ store, clock }: Context, hostId: number, templateId: number, missing: readonly string[]) {
  const before = await store.hostCertificates.first({
    where: and(eq("host_id", hostId), eq("template_id", templateId)),
  });
  const wasLacking = before?.status === "failed" && (before.detail ?? "").startsWith(LACKING);
  const isSettled = before?.status === "verified" || (before?.status === "failed" && !wasLacking);
  const status = missing.length > 0 ? "failed" : isSettled ? before.status : "delivered";
  const detail = missing.length > 0 ? LACKING + missing.join(", ") : isSettled ? before.detail : null;
  if (before?.status !== status || before.detail !== detail)
    await store.hostCertificates.upsert(
      [{ host_id: hostId, template_id: templateId, status, detail, updated_at: clock.iso() }],
      { on: ["host_id", "template_id"], set: ["status", "detail", "updated_at"], returning: [] },
    );
  return status;
}

type ReportedStatus = z.output<typeof certificateAgentApi.status.body>;
type CurrentCertificate = Pick<RowOf<typeof hostCertificates>, "serial" | "not_valid_after">;

export const STATUS_DETAIL = limit({
  what: "reason why a host could not install a certificate",
  max: 1_000,
  unit: "characters",
  beyond: "The rest of the text is left out.",
});

/** After a failure, the agent tries to replace its certificate again. */
const AGAIN_AFTER = days(1);

/** The certificate that the host has now, and when it is replaced. One that could not be replaced stays. */
function installedBy(report: ReportedStatus, before: CurrentCertificate | null, now: number) {
  if (report.status === "failed") {
    const { serial = null, not_valid_after = null } = before ?? {};
    return { serial, not_valid_after, renew_at: not_valid_after === null ? null : isoAt(now + AGAIN_AFTER) };
  }
  const end = report.not_valid_after == null ? null : Date.parse(report.not_valid_after);
  const begin = report.not_valid_before == null ? now : Date.parse(report.not_valid_before);
  return {
    serial: report.serial ?? null,
    not_valid_after: end === null ? null : isoAt(end),
    renew_at: end === null || end <= begin ? null : isoAt(renewalTime(begin, end)),
  };
}

/** Stores the installation status from the agent, and records an activity if it has changed. */
export async function reportStatus(
  ctx: Context,
  host: CallingHost,
  id: number,
  report: ReportedStatus,
): Promise<Record<string, never>> {
  const row = await templateFor(ctx, host, id);
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const mine = and(eq("host_id", host.id), eq("template_id", id));
      const before = await store.hostCertificates.first({ where: mine });
      const { status } = report;
      const reason = status === "failed" ? (report.detail?.slice(0, STATUS_DETAIL.max) ?? null) : null;
      const installed = installedBy(report, before, ctx.clock.now());
      const isSame =
        before?.status === status &&
        before.detail === reason &&
        (status === "failed" ||
          (before.serial === installed.serial && before.not_valid_after === installed.not_valid_after));
      if (isSame) return;
      await store.hostCertificates.upsert(
        [{ host_id: host.id, template_id: id, status, detail: reason, ...installed, updated_at: ctx.clock.iso() }],
        {
          on: ["host_id", "template_id"],
          set: ["status", "detail", "serial", "not_valid_after", "renew_at", "updated_at"],
          returning: [],
        },
      );
      if (before?.status === status) return;
      const [named] = await store.hosts.pick(["display_name"], { where: eq("id", host.id) });
      await recordHostActivity(inside, host.id, "installed_certificate", {
        host_id: host.id,
        host_display_name: named?.display_name ?? "",
        certificate_template_id: id,
        certificate_name: row.name,
        status: status === "verified" ? "installed" : "failed_install",
        ...(reason ? { detail: reason } : {}),
      });
    },
    { lock: `certificates of host ${host.id}` },
  );
  return {};
}
