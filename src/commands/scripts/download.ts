import * as Flags from "@oclif/core/flags";
import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { saveBytes } from "../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";
import { findScript, scriptArg, scriptTeamFlag } from "../../cli/topics/scripts/scripts.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class ScriptsDownload extends ClientCommand {
  static override summary = "Download the file of a saved script.";
  static override endpoints = [scriptsApi.get];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = { script: scriptArg };
  static override flags = {
    ...scriptTeamFlag,
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout. Default: the script's name, in the current folder.",
      helpValue: "FILE",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> tidy.sh -o -"];

  async run() {
    const { args, flags } = await this.parse(ScriptsDownload);
    const { id, name } = await findScript(this, args.script, flags.team);
    const client = await this.client();
    const { body } = await client.open(scriptsApi.get, { params: { id }, query: { alt: "media" } });
    // A name that others have chosen must not lead out of the folder.
    const path = flags.out ?? name.replaceAll(/[/\\]/g, "_");
    const size = await saveBytes(this.io, path, body);
    if (path !== "-") await this.report(`${plural(size, "byte")} in ${printable(path)}`, { file: path, size });
  }
}
