import { hostActivitiesApi } from "../../api/hosts/host-activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { notFound } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsCancel extends ClientCommand {
  static override summary = "Cancel an upcoming activity of a host.";
  static override destructive = true;
  static override description = "A lock or wipe that has started on the host cannot be cancelled.";
  static override endpoints = [hostActivitiesApi.cancel];
  static override args = { host: args.host, activity: args.required("uuid, as `svc hosts upcoming` shows it") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com 0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0 --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsCancel);
    const { id, display_name } = await this.host(args.host);
    const name = printable(display_name);
    const { activities } = await this.call(hostActivitiesApi.upcoming, { params: { id } });
    const activity = activities.find(({ uuid }) => uuid === args.activity);
    if (!activity)
      throw notFound(`${name} has no upcoming activity ${args.activity}`, `\`svc hosts upcoming ${id}\` lists them.`);
    const script = activity.details?.script_name;
    const what = typeof script === "string" && script !== "" ? printable(script) : activity.type;
    if (flags["dry-run"]) this.trying(`cancel ${what} on ${name}`, { host_id: id, ...activity });
    await this.confirm(`Cancel ${what} on ${name}?`);
    await this.call(hostActivitiesApi.cancel, { params: { id, activity_id: args.activity } });
    await this.report(`cancelled ${what} on ${name}`, { host_id: id, uuid: args.activity, cancelled: true });
  }
}
