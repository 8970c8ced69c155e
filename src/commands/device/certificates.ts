import { deviceApi } from "../../api/edge/device.ts";
import { HostCertificate } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceCertificates extends ClientCommand {
  static override summary = "List the certificates on a host as its user sees them.";
  static override endpoints = [deviceApi.certificates];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...queryFlags(deviceApi.certificates), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceCertificates);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const input = { params: { token }, query: queryOf(deviceApi.certificates, flags) };
    const certificates = this.pages(deviceApi.certificates, input, "certificates");
    await this.printList(certificates, {
      schema: () => HostCertificate,
      columns: [
        { key: "common_name", header: "name" },
        { key: "issuer.common_name", header: "issuer" },
        { key: "not_valid_after", header: "not valid after" },
        { key: "source" },
      ],
    });
  }
}
