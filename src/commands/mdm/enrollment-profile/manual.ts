import * as Flags from "@oclif/core/flags";
import { appleEnrollApi } from "../../../api/devices/apple-enroll.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readSecret, secretFlags } from "../../../cli/files/input.ts";
import { saveBytes } from "../../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmEnrollmentProfileManual extends ClientCommand {
  static override summary = "Download a profile with which one Apple device enrolls in device management.";
  static override description =
    "The profile can be installed once, within a week. Users who enroll their devices themselves open SERVER/enroll?enroll_secret=SECRET in a browser instead.";
  static override endpoints = [appleEnrollApi.manual];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    team: Flags.string({
      summary: "Name or id of the team that the device joins. Default: no team.",
      helpValue: "TEAM",
      exclusive: ["enroll-secret-stdin", "enroll-secret-file"],
    }),
    ...secretFlags("enroll-secret", "an enroll secret, which decides the team"),
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout.",
      default: "enrollment.mobileconfig",
      helpValue: "FILE",
    }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations",
    "<%= config.bin %> <%= command.id %> -o -",
  ];

  async run() {
    const { flags } = await this.parse(MdmEnrollmentProfileManual);
    const secret = (await readSecret(this.io, flags, "enroll-secret"))?.trim();
    const query = secret === undefined ? await this.teamFilter(flags.team) : { enroll_secret: secret };
    const client = await this.client();
    const { body } = await client.open(appleEnrollApi.manual, { query });
    const size = await saveBytes(this.io, flags.out, body);
    if (flags.out !== "-")
      await this.report(`${plural(size, "byte")} in ${printable(flags.out)}`, { file: flags.out, size });
  }
}
