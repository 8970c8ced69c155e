// The transaction that writes ingested results. Only changed values are written.
import type { ServerTx } from "../../core/tables.ts";
import { type HostDetailsRow, writeDetails } from "../../hosts/details.ts";
import { type ReportedEmails, writeReportedEmails } from "../../hosts/emails.ts";
import { type ReportedHost, writeReported } from "../../hosts/reported.ts";
import { type Membership, writeMembership } from "../../labels/ingest.ts";
import { type HostMdmRow, writeReportedMdm } from "../../mdm-status/ingest.ts";
import { type MunkiPlan, writeMunki } from "../../munki/ingest.ts";
import { type HostSoftwareRow, writeHostSoftware } from "../../software/ingest.ts";

export interface Answers {
  readonly hosts: readonly ReportedHost[];
  readonly emails: readonly ReportedEmails[];
  readonly softwareRows: readonly HostSoftwareRow[];
  readonly detailRows: readonly HostDetailsRow[];
  readonly mdmRows: readonly HostMdmRow[];
  readonly munki: MunkiPlan;
  readonly membership: Membership;
}

export async function writeAnswers(tx: ServerTx, now: number, answers: Answers): Promise<void> {
  await writeReported(tx, now, answers.hosts);
  await writeDetails(tx, answers.detailRows);
  await writeHostSoftware(tx, answers.softwareRows);
  await writeReportedMdm(tx, answers.mdmRows);
  await writeMunki(tx, answers.munki);
  await writeMembership(tx, answers.membership);
  await writeReportedEmails(tx, answers.emails);
}
