import * as Flags from "@oclif/core/flags";
import { type CreateTemplate, certificatesApi } from "../../api/certificates/certificates.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag, teamFlag } from "../../cli/flags.ts";
import { findAuthority } from "../../cli/topics/ca.ts";

export default class CertificatesCreate extends ClientCommand {
  static override summary = "Create a certificate template, for the Android hosts of a team.";
  static override description =
    "The subject is a list of fields such as /CN=value/O=value. It may contain $SVC_VAR_HOST_UUID, $SVC_VAR_HOST_HARDWARE_SERIAL and " +
    "$SVC_VAR_HOST_END_USER_IDP_USERNAME, which are replaced by each host's values.";
  static override endpoints = [certificatesApi.create];
  static override flags = {
    name: Flags.string({ summary: "Name." }),
    "certificate-authority": Flags.string({
      summary: "A custom_scep_proxy authority, by name or id.",
      helpValue: "AUTHORITY",
    }),
    "subject-name": Flags.string({ summary: "Subject of the certificates.", helpValue: "/CN=.../O=..." }),
    "subject-alternative-name": Flags.string({
      summary: "Other names of the certificates: pairs of DNS, EMAIL, UPN, IP and URI.",
      helpValue: "DNS=...,EMAIL=...",
    }),
    ...teamFlag,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name VPN --certificate-authority WIFI --subject-name '/CN=$SVC_VAR_HOST_UUID/O=Example'",
  ];

  async run() {
    const { flags } = await this.parse(CertificatesCreate);
    const body: Record<string, unknown> = { ...(await readBody(this.io, flags.input)) };
    if (flags.name !== undefined) body.name = flags.name;
    if (flags["subject-name"] !== undefined) body.subject_name = flags["subject-name"];
    if (flags["subject-alternative-name"] !== undefined)
      body.subject_alternative_name = flags["subject-alternative-name"];
    if (flags.team !== undefined) Object.assign(body, await this.teamFilter(flags.team));
    body.name ??= await this.askText("Name", "--name");
    body.subject_name ??= await this.askText("Subject", "--subject-name");
    const authority =
      flags["certificate-authority"] ??
      (body.certificate_authority_id === undefined
        ? await this.askText("Certificate authority", "--certificate-authority")
        : undefined);
    // With an id the list is not needed, which some users who may create templates may not read.
    if (authority !== undefined)
      body.certificate_authority_id = /^[1-9]\d{0,14}$/.test(authority)
        ? Number(authority)
        : (await findAuthority(this, authority)).id;
    const template = body as unknown as CreateTemplate;
    if (flags["dry-run"]) {
      this.trying(`create certificate template ${template.name}`, null, changesOf({}, body));
    }
    const created = await this.call(certificatesApi.create, { body: template });
    await this.report(`created certificate template ${created.name} (${created.id})`, created);
  }
}
