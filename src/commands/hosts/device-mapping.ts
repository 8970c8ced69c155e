import * as Flags from "@oclif/core/flags";
import { DeviceMapping } from "../../api/hosts/host.ts";
import { hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsDeviceMapping extends ClientCommand {
  static override summary = "List the email addresses of a host's users; --email sets the custom one.";
  static override description =
    "With --source idp, --email sets the user name at the identity provider, by which the host's user is found among " +
    "the people of `svc scim users list`.";
  static override endpoints = [hostDetailsApi.deviceMapping, hostDetailsApi.setDeviceMapping];
  static override args = { host: args.host };
  static override flags = {
    email: Flags.string({ summary: "Set the custom address of the host, replacing an existing one." }),
    source: Flags.option({ options: ["custom", "idp"] as const })({
      summary: "The address that --email sets: the custom one, or the user name at the identity provider.",
    }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --email ada@example.com",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --email ada@example.com --source idp",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsDeviceMapping);
    const { id, display_name } = await this.host(args.host);
    const { email, source = "custom" } = flags;
    const input = { params: { id }, body: { email: email ?? "", source } };
    if (email !== undefined && !flags["dry-run"])
      return this.#show(await this.call(hostDetailsApi.setDeviceMapping, input));
    const reply = await this.call(hostDetailsApi.deviceMapping, { params: { id } });
    if (email === undefined) return this.#show(reply);
    await this.tryOut(hostDetailsApi.setDeviceMapping, input);
    const stored = source === "idp" ? "mdm_idp_accounts" : "custom";
    const from = reply.device_mapping.find((entry) => entry.source === stored)?.email;
    await this.printPlan(`map ${printable(display_name)} to ${printable(email)}`, { id, display_name }, [
      { field: "email", from, to: email },
    ]);
  }

  #show({ device_mapping: mapping }: { device_mapping: readonly DeviceMapping[] }): Promise<void> {
    return this.printList(mapping, { schema: () => DeviceMapping, columns: ["email", "source"] });
  }
}
