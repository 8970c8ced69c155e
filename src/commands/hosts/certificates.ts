import { HostCertificate, hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsCertificates extends ClientCommand {
  static override summary = "List the certificates on a host.";
  static override endpoints = [hostDetailsApi.certificates];
  static override args = { host: args.host };
  static override flags = { ...queryFlags(hostDetailsApi.certificates), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --order-key not_valid_after"];

  async run() {
    const { args, flags } = await this.parse(HostsCertificates);
    const { id } = await this.host(args.host);
    const query = queryOf(hostDetailsApi.certificates, flags);
    const certificates = this.pages(hostDetailsApi.certificates, { params: { id }, query }, "certificates");
    await this.printList(certificates, {
      schema: () => HostCertificate,
      columns: [
        { key: "common_name", header: "name" },
        { key: "issuer.common_name", header: "issuer" },
        { key: "not_valid_after", header: "not valid after" },
        { key: "source" },
        { key: "username", header: "user" },
        { key: "certificate_authority", header: "authority" },
      ],
    });
  }
}
