import { HostHealth, hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

const named = (value: unknown, nameOf: (item: Record<string, unknown>) => string) =>
  Array.isArray(value) ? value.map(nameOf).join(", ") : "";

export default class HostsHealth extends ClientCommand {
  static override summary = "Show what is wrong with a host: failing policies, vulnerable software.";
  static override endpoints = [hostDetailsApi.health];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(HostsHealth);
    const { id } = await this.host(args.host);
    const reply = await this.call(hostDetailsApi.health, { params: { id } });
    const { health } = reply;
    await this.printOne(health, {
      schema: () => HostHealth,
      columns: [
        timeColumn("updated_at", "as of", this.relativeTimes, this.io.now()),
        { key: "os_version", header: "os version" },
        { key: "disk_encryption_enabled", header: "disk encrypted" },
        { key: "failing_policies_count", header: "failing policies" },
        ...(health.failing_policies.length > 0
          ? [{ key: "failing_policies", header: "their names", text: namesOf }]
          : []),
        {
          key: "vulnerable_software",
          header: "vulnerable software",
          text: (value) => named(value, ({ name, version }) => `${name} ${version}`),
        },
      ],
    });
    await noteMissingData(this, reply);
  }
}

const namesOf = (value: unknown) => named(value, ({ name }) => String(name));
