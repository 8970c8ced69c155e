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
    const { args: given, flags } = await this.parse(HostsCancel);
    const { id, display_name } = await this.host(given.host);
    const name = printable(display_name);
    const { activities } = await this.call(hostActivitiesApi.upcoming, { params: { id } });
    const found = activities.find(({ uuid }) => uuid === given.activity);
    if (!found)
      throw notFound(`${name} has no upcoming activity ${given.activity}`, `\`svc hosts upcoming ${id}\` lists them.`);
    const script = found.details?.script_name;
    const what = typeof script === "string" && script !== "" ? printable(script) : found.type;
    if (flags["dry-run"]) this.trying(`cancel ${what} on ${name}`, { host_id: id, ...found });
    await this.confirm(`Cancel ${what} on ${name}?`);
    await this.call(hostActivitiesApi.cancel, { params: { id, activity_id: given.activity } });
    await this.report(`cancelled ${what} on ${name}`, { host_id: id, uuid: given.activity, cancelled: true });
  }
}
