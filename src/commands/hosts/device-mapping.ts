import * as Flags from "@oclif/core/flags";
import { DeviceMapping } from "../../api/host.ts";
import { hostDetailsApi } from "../../api/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsDeviceMapping extends ClientCommand {
  static override summary = "List the email addresses of a host's users; --email sets the custom one.";
  static override endpoints = [hostDetailsApi.deviceMapping, hostDetailsApi.setDeviceMapping];
  static override args = { host: args.host };
  static override flags = {
    email: Flags.string({ summary: "Set the custom address of the host, replacing an existing one." }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --email ada@example.com",
  ];

  async run() {
    const { args: given, flags } = await this.parse(HostsDeviceMapping);
    const { id, display_name } = await this.host(given.host);
    const { email } = flags;
    if (email !== undefined && !flags["dry-run"])
      return this.show(await this.call(hostDetailsApi.setDeviceMapping, { params: { id }, body: { email } }));
    const reply = await this.call(hostDetailsApi.deviceMapping, { params: { id } });
    if (email === undefined) return this.show(reply);
    await this.tryOut(hostDetailsApi.setDeviceMapping, { params: { id }, body: { email } });
    const from = reply.device_mapping.find(({ source }) => source === "custom")?.email;
    await this.printPlan(`map ${printable(display_name)} to ${printable(email)}`, { id, display_name }, [
      { field: "email", from, to: email },
    ]);
  }

  private show({ device_mapping: mapping }: { device_mapping: readonly DeviceMapping[] }): Promise<void> {
    return this.printList(mapping, { schema: DeviceMapping, columns: ["email", "source"] });
  }
}
