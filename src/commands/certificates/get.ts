import * as Flags from "@oclif/core/flags";
import { certificatesApi, WholeTemplate } from "../../api/certificates/certificates.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { findTemplate } from "../../cli/topics/certificates.ts";

export default class CertificatesGet extends ClientCommand {
  static override summary = "Show a certificate template; with --host, its values and state on that host.";
  static override endpoints = [certificatesApi.get];
  static override args = { template: args.required("id, or name within the team, of the template") };
  static override flags = {
    host: Flags.string({ summary: "With the values of this host.", helpValue: "HOST" }),
    ...teamFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Wi-Fi",
    "<%= config.bin %> <%= command.id %> Wi-Fi --host linux-1.example.com",
  ];

  async run() {
    const { args, flags } = await this.parse(CertificatesGet);
    const { id } = await findTemplate(this, args.template, flags.team);
    const query = flags.host === undefined ? {} : { host_id: (await this.host(flags.host)).id };
    const { certificate } = await this.call(certificatesApi.get, { params: { id }, query });
    await this.printOne(certificate, { schema: () => WholeTemplate });
  }
}
