import * as Flags from "@oclif/core/flags";
import { Enrollment } from "../../api/hosts/host-mdm.ts";
import { hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { turnOffMdm } from "../../cli/topics/hosts/mdm-off.ts";
import { printable } from "../../text/printable.ts";

export default class HostsMdm extends ClientCommand {
  static override summary = "Show a host's enrollment in device management; --off turns device management off.";
  static override destructive = true;
  static override endpoints = [hostDetailsApi.mdm, hostDetailsApi.unenroll];
  static override args = { host: args.host };
  static override flags = {
    off: Flags.boolean({ summary: "Turn device management off, like `svc hosts unenroll`." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --off --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsMdm);
    const host = await this.host(args.host);
    const { id, display_name } = host;
    if (flags.off)
      return turnOffMdm(this, host, {
        dryRun: flags["dry-run"],
        send: () => this.call(hostDetailsApi.unenroll, { params: { id } }),
      });
    const enrollment = await this.call(hostDetailsApi.mdm, { params: { id } });
    if (enrollment === null && !this.structured)
      return this.note(`${printable(display_name)} is not enrolled in device management`);
    await this.printOne(enrollment, {
      schema: () => Enrollment,
      columns: [
        { key: "enrollment_status", header: "enrollment" },
        { key: "name", header: "product" },
        { key: "server_url", header: "server" },
      ],
    });
  }
}
