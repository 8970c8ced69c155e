import * as Flags from "@oclif/core/flags";
import { hostDetailsApi } from "../../api/host-details.ts";
import { Enrollment } from "../../api/host-mdm.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
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
    const { args: given, flags } = await this.parse(HostsMdm);
    const { id, display_name } = await this.host(given.host);
    const name = printable(display_name);
    if (flags.off) {
      if (flags["dry-run"]) this.trying(`turn off device management for ${name}`, { id, display_name });
      await this.confirm(`Turn off device management for ${name}?`);
      await this.call(hostDetailsApi.unenroll, { params: { id } });
      return this.report(`${name}: device management is off`, { id, display_name, enrollment_status: "Off" });
    }
    const enrollment = await this.call(hostDetailsApi.mdm, { params: { id } });
    if (enrollment === null && !this.structured) return this.note(`${name} is not enrolled in device management`);
    await this.printOne(enrollment, {
      schema: Enrollment,
      columns: [
        { key: "enrollment_status", header: "enrollment" },
        { key: "name", header: "product" },
        { key: "server_url", header: "server" },
      ],
    });
  }
}
