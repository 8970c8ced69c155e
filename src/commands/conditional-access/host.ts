import { conditionalAccessApi, HostAccess } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class ConditionalAccessHost extends ClientCommand {
  static override summary = "Show whether a host may sign in to other services, and what the directory knows of it.";
  static override endpoints = [conditionalAccessApi.host];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(ConditionalAccessHost);
    const { id } = await this.host(args.host);
    const { conditional_access: access } = await this.call(conditionalAccessApi.host, { params: { id } });
    await this.printOne(access, {
      schema: () => HostAccess,
      columns: [
        { key: "enabled" },
        { key: "blocking_policies", header: "blocked by", text: (value) => namesOf(value) },
        { key: "directory", text: (value) => deviceText(value) },
      ],
    });
  }
}

const namesOf = (value: unknown): string =>
  (value as HostAccess["blocking_policies"]).map(({ name }) => name).join(", ");

function deviceText(value: unknown): string {
  const device = value as HostAccess["directory"];
  if (device === null) return "no device of a directory";
  const { device_id, status, user_principal_name: user, pending, last_error: error } = device;
  const notes = [user, pending && "a report is due", error].filter(Boolean).join("; ");
  return `${device_id}: ${status}${notes && ` (${notes})`}`;
}
