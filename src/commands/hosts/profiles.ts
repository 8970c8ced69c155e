import { HostProfile } from "../../api/hosts/host-mdm.ts";
import { HostConfigurationProfile, hostDetailsApi } from "../../api/inventory/host-details.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

const Row = HostConfigurationProfile.extend({
  status: HostProfile.shape.status.nullable(),
  detail: HostProfile.shape.detail,
});

export default class HostsProfiles extends ClientCommand {
  static override summary = "List the configuration profiles of a host, and whether it has them.";
  static override endpoints = [hostDetailsApi.profiles, hostsApi.get];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(HostsProfiles);
    const { id } = await this.host(args.host);
    const [{ profiles }, { host }] = await Promise.all([
      this.call(hostDetailsApi.profiles, { params: { id } }),
      this.call(hostsApi.get, { params: { id }, query: { exclude_software: true } }),
    ]);
    // The list leaves out what has become of each profile on the host.
    const states = new Map((host.mdm.profiles ?? []).map((state) => [state.profile_uuid, state]));
    const rows = profiles.map((profile) => {
      const { status, detail } = states.get(profile.profile_uuid) ?? { status: null, detail: "" };
      return { ...profile, status, detail };
    });
    await this.printList(rows, {
      schema: () => Row,
      columns: [
        { key: "profile_uuid" },
        { key: "name" },
        { key: "identifier", spare: 2 },
        { key: "status" },
        { key: "detail" },
        { key: "updated_at", header: "updated", spare: 1 },
      ],
    });
  }
}
