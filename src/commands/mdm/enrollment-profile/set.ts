import { basename } from "node:path";
import * as Flags from "@oclif/core/flags";
import { SetupAssistant, setupAssistantsApi } from "../../../api/devices/setup-assistants.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, teamFlag } from "../../../cli/flags.ts";

export default class MdmEnrollmentProfileSet extends ClientCommand {
  static override summary = "Set the setup assistant profile of a team: what devices show that enroll automatically.";
  static override description =
    "The file contains the profile as the business portal defines it, as JSON or YAML. The server fills in url, " +
    "configuration_web_url and await_device_configured.";
  static override endpoints = [setupAssistantsApi.set];
  static override flags = {
    file: Flags.string({ char: "f", summary: "File with the profile; - is stdin.", helpValue: "FILE" }),
    name: Flags.string({ summary: "Name of the profile. Default: the name of the file." }),
    ...teamFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --file setup.json --team Workstations"];

  async run() {
    const { flags } = await this.parse(MdmEnrollmentProfileSet);
    if (flags.file === undefined) throw usage("no file is given", "Give it with --file.");
    const enrollment_profile = (await readBody(this.io, flags.file)) as SetupAssistant["enrollment_profile"];
    const name = flags.name ?? (flags.file === "-" ? "profile.json" : basename(flags.file));
    const body = { ...(await this.teamFilter(flags.team)), name, enrollment_profile };
    const what = `setup assistant profile ${name}`;
    if (flags["dry-run"]) this.trying(`set the ${what}`, { team_id: body.team_id ?? 0, name });
    const reply = await this.call(setupAssistantsApi.set, { body });
    await this.report(`set the ${what}`, reply, { schema: () => SetupAssistant });
  }
}
