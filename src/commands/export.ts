import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as Flags from "@oclif/core/flags";
import { configurationApi } from "../api/configuration.ts";
import { failed, usage } from "../cli/errors.ts";
import { GitopsCommand } from "../cli/gitops-command.ts";
import { plural, printable } from "../cli/text.ts";
import { exportFiles } from "../gitops/export.ts";

export default class Export extends GitopsCommand {
  static override summary = "Write the server's configuration as files for `svc apply`.";
  static override description =
    "A plan of the files is empty. The server tells nobody its secrets: they become variables of the environment, which " +
    ".env.example lists; a plan needs their values.";
  static override endpoints = [configurationApi.state];
  static override flags = {
    dir: Flags.string({
      summary: "Directory to write to; made where it is not there.",
      helpValue: "DIR",
      required: true,
    }),
    force: Flags.boolean({ summary: "Write into a directory that holds something, over files of the same names." }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --dir configuration"];

  async run() {
    const { flags } = await this.parse(Export);
    const there = await this.#entries(flags.dir);
    if (there.length > 0 && !flags.force)
      throw usage(
        `${printable(flags.dir)} is not empty`,
        "Name an empty directory, or write over its files with --force.",
      );
    const { files, variables } = exportFiles(await this.state());
    for (const [path, text] of files) {
      const target = join(flags.dir, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
    for (const path of there)
      if (/\.ya?ml$/.test(path) && !files.has(path))
        this.remark(`${path} is not of this export: it is left, and still applied where a pattern takes it in`);
    if (variables.length > 0)
      this.remark(`${plural(variables.length, "secret")} to fill in: see ${join(flags.dir, ".env.example")}`);
    const names = [...files.keys()];
    await this.report(`${plural(names.length, "file")} in ${printable(flags.dir)}`, {
      dir: flags.dir,
      files: names,
      variables: variables.map(({ name }) => name),
    });
  }

  /** The files in a directory, as paths below it with `/`; none where it is not there. */
  async #entries(dir: string): Promise<string[]> {
    try {
      return (await readdir(dir, { recursive: true })).map((path) => path.replaceAll("\\", "/"));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT") return [];
      throw failed(
        code === "ENOTDIR" ? `${printable(dir)} is no directory` : `${printable(dir)} cannot be read (${code})`,
      );
    }
  }
}
