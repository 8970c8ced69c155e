import * as Flags from "@oclif/core/flags";
import { selfServiceCategoriesApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { categoryTeamFlag, teamIdOf } from "../../../cli/topics/software/categories.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwareCategoriesCreate extends ClientCommand {
  static override summary = "Create a category in which users of a team's hosts find software.";
  static override description =
    "Packages and store apps name their categories: `svc software packages update TITLE --categories NAME`. Names that " +
    "do not exist yet are created then.";
  static override endpoints = [selfServiceCategoriesApi.create];
  static override flags = {
    name: Flags.string({ summary: "Name of the category." }),
    ...categoryTeamFlag,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --name Browsers --team Workstations"];

  async run() {
    const { flags } = await this.parse(SoftwareCategoriesCreate);
    const input = await readBody(this.io, flags.input);
    const name = String(flags.name ?? input.name ?? (await this.askText("Name", "--name")));
    const body = { ...input, ...(flags.team === undefined ? {} : { team_id: await teamIdOf(this, flags.team) }), name };
    if (flags["dry-run"]) this.trying(`create the category ${printable(name)}`, { name });
    const { self_service_category: created } = await this.call(selfServiceCategoriesApi.create, { body });
    await this.report(`created the category ${printable(created.name)} (${created.id})`, created);
  }
}
