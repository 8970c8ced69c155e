import { conditionalAccessApi, DirectoryConnection } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { timeColumn } from "../../cli/output/time-column.ts";

export default class ConditionalAccessStatus extends ClientCommand {
  static override summary = "Show the connection with the directory, and how many devices comply.";
  static override endpoints = [conditionalAccessApi.directory];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(ConditionalAccessStatus);
    const connection = await this.call(conditionalAccessApi.directory);
    await this.printOne(connection, {
      schema: () => DirectoryConnection,
      columns: [
        { key: "directory_tenant_id", header: "directory" },
        { key: "connected" },
        { key: "devices", text: (value) => countsOf(value) },
        timeColumn("last_reported_at", "last reported", this.relativeTimes, this.io.now()),
        timeColumn("paused_until", "paused until", this.relativeTimes, this.io.now()),
        { key: "last_error", header: "last error" },
      ],
    });
  }
}

function countsOf(value: unknown): string {
  const { compliant, noncompliant, unreported, failing } = value as DirectoryConnection["devices"];
  return `${compliant} compliant, ${noncompliant} not, ${unreported} not reported, ${failing} failing`;
}
