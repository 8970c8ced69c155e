import { createHash, type Hash } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as Flags from "@oclif/core/flags";
import { bootstrapApi } from "../api/devices/bootstrap.ts";
import { eulaApi } from "../api/devices/eula.ts";
import { configurationApi } from "../api/edge/configuration.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { failed, usage } from "../cli/errors.ts";
import { toWholeFile } from "../cli/files/whole-file.ts";
import { Configuration } from "../cli/topics/configuration.ts";
import { aboutDeleted, deletedLabels } from "../gitops/desired/labels.ts";
import { exportFiles } from "../gitops/export/export.ts";
import { plural } from "../text/plural.ts";
import { printable } from "../text/printable.ts";

async function* hashed(body: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    hash.update(bytes);
    yield bytes;
  }
}

export default class Export extends ClientCommand {
  static override summary = "Export the server's configuration to files for `svc apply`.";
  static override description =
    "A plan of the exported files contains no changes. The server never returns its secrets: they become environment variables, which " +
    ".env.example lists. A plan needs their values.";
  static override endpoints = [configurationApi.state];
  static override flags = {
    dir: Flags.string({
      summary: "Directory to write to; created if it does not exist.",
      helpValue: "DIR",
      required: true,
    }),
    force: Flags.boolean({ summary: "Write to a directory that is not empty, and overwrite files of the same names." }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --dir configuration"];

  readonly #configuration = new Configuration(this);

  async run() {
    const { flags } = await this.parse(Export);
    const there = await this.#entries(flags.dir);
    if (there.length > 0 && !flags.force)
      throw usage(
        `${printable(flags.dir)} is not empty`,
        "Give an empty directory, or overwrite the files in it with --force.",
      );
    const state = await this.#configuration.state({ files: true });
    const { files, contents, downloads, variables } = exportFiles(state);
    const byHand = Object.entries(state.gitops_exceptions ?? {}).flatMap(([name, isByHand]) =>
      isByHand ? [name] : [],
    );
    if (byHand.length > 0)
      this.#configuration.remark(`changed by hand (gitops.exceptions), so not in the files: ${byHand.join(", ")}`);
    for (const use of deletedLabels(state)) this.#configuration.remark(aboutDeleted(use));
    for (const [path, content] of [...files, ...contents]) {
      const target = join(flags.dir, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
    }
    for (const [path, { of, sha256 }] of downloads)
      await this.#download(join(flags.dir, path), of, sha256, state.downloads?.[sha256] ?? "");
    for (const path of there)
      if (/\.ya?ml$/.test(path) && !files.has(path))
        this.#configuration.remark(
          `${path} is not part of this export: it is kept, and is applied if a pattern includes it`,
        );
    if (variables.length > 0)
      this.#configuration.remark(
        `${plural(variables.length, "secret")} to fill in: see ${join(flags.dir, ".env.example")}`,
      );
    const names = [...files.keys(), ...contents.keys(), ...downloads.keys()];
    await this.report(`${plural(names.length, "file")} in ${printable(flags.dir)}`, {
      dir: flags.dir,
      files: names,
      variables: variables.map(({ name }) => name),
    });
  }

  async #download(path: string, kind: string, sha256: string, token: string): Promise<void> {
    const client = await this.client();
    await mkdir(dirname(path), { recursive: true });
    const { body } =
      kind === "bootstrap_package"
        ? await client.open(bootstrapApi.download, { query: { token } }, { signal: this.stop.signal })
        : await client.open(eulaApi.download, { params: { token } }, { signal: this.stop.signal });
    const progress = this.progress(`downloading ${printable(path)} ...`);
    const hash = createHash("sha256");
    try {
      await toWholeFile(path, hashed(body, hash));
    } finally {
      progress.done();
    }
    if (hash.digest("hex") !== sha256) throw failed(`${printable(path)} was not downloaded completely`);
  }

  /** The files in a directory, as relative paths with `/`; none if it does not exist. */
  async #entries(dir: string): Promise<string[]> {
    try {
      return (await readdir(dir, { recursive: true })).map((path) => path.replaceAll("\\", "/"));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT") return [];
      throw failed(
        code === "ENOTDIR" ? `${printable(dir)} is not a directory` : `${printable(dir)} cannot be read (${code})`,
      );
    }
  }
}
