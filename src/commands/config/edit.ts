import * as Flags from "@oclif/core/flags";
import type { z } from "zod";
import { AppConfig, appConfigApi } from "../../api/settings/app-config.ts";
import type { Change } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, errorReport, failed, usage } from "../../cli/errors.ts";
import { editorOf, editText } from "../../cli/files/editor.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { fieldPaths, isField, valueAt } from "../../cli/output/fields.ts";
import { changeable, difference, nested, settingAt, shown } from "../../cli/topics/config/edit.ts";
import { ApiCallError } from "../../client/errors.ts";
import { nearest } from "../../text/nearest.ts";

type Body = Record<string, z.core.util.JSONType>;

export default class ConfigEdit extends ClientCommand {
  static override summary = "Change the configuration, or the part at PATH, in an editor.";
  static override description =
    "Opens the configuration as YAML in $VISUAL or $EDITOR, shows the changes, asks for confirmation, and sends only the changes. If the server refuses them, the editor opens again with the reason.";
  static override endpoints = [appConfigApi.modify];
  static override args = { path: args.optional("part of it, e.g. webhook_settings") };
  static override flags = {
    force: Flags.boolean({
      summary: "Skip the checks of agent options, of trackers, and for users who need mail to sign in.",
    }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> webhook_settings --yes",
    "<%= config.bin %> <%= command.id %> --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(ConfigEdit);
    const path = args.path ?? "";
    const schema = this.#schemaOf(path);
    const editor = editorOf(this.io);
    if (!this.interactive && !flags.yes && !flags["dry-run"])
      throw usage("changes must be confirmed", "Give --yes to confirm without a terminal.");
    const config = await this.call(appConfigApi.get);
    const before = path === "" ? changeable(config) : valueAt(config, path);
    const yaml = await import("yaml");
    let text = yaml.stringify(before, { lineWidth: 0 });
    let problem: string | null = null;
    for (;;) {
      const body = withoutHead(await editText(editor, "svc-config.yml", `${head(path, problem)}${text}`));
      if (body === text) {
        if (problem !== null) throw failed(`nothing was changed: ${problem}`);
        return this.note("nothing changed");
      }
      text = body;
      const document = yaml.parseDocument(body);
      if (document.errors[0]) {
        problem = document.errors[0].message.split("\n")[0]!;
        continue;
      }
      const { patch, changes, gone } = difference(schema, before, document.toJS(), path);
      if (gone.length > 0) {
        problem = `${gone.join(", ")}: a setting cannot be removed, only set to another value`;
        continue;
      }
      if (changes.length === 0) return this.note("nothing changed");
      const sent = nested(path, patch) as Body;
      try {
        await this.#send(sent, { changes: changes.map(shown), before: config, flags });
        return;
      } catch (error) {
        if (!(error instanceof ApiCallError) || (error.status !== 400 && error.status !== 422)) throw error;
        problem = reasonOf(error);
      }
    }
  }

  #schemaOf(path: string): z.ZodType {
    const schema = settingAt(path);
    if (schema) return schema;
    if (isField(AppConfig, path)) throw usage(`${path} cannot be changed here`, "`svc config get` shows it.");
    const near = nearest(path, fieldPaths(AppConfig));
    throw usage(`there is no setting ${path}`, near ? `Did you mean ${near}?` : "`svc config get -o yaml` shows all.");
  }

  /** A dry run on the server comes first, so that the user only confirms changes that it accepts. */
  async #send(
    body: Body,
    { changes, before, flags }: { changes: Change[]; before: AppConfig; flags: { force: boolean; "dry-run": boolean } },
  ): Promise<void> {
    const query = { force: flags.force };
    await this.call(appConfigApi.modify, { query: { ...query, dry_run: true }, body });
    if (flags["dry-run"]) this.trying("change the configuration", null, changes);
    for (const { field, from, to } of changes)
      this.note(`  ${field}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`);
    await this.confirm(`Change ${changes.length === 1 ? "this" : `these ${changes.length}`}?`);
    const now = await this.call(appConfigApi.get);
    const moved = changes.filter(
      ({ field }) => JSON.stringify(valueAt(now, field)) !== JSON.stringify(valueAt(before, field)),
    );
    if (moved.length > 0)
      throw new CliError(
        "conflict",
        `changed by another user in the meantime: ${moved.map(({ field }) => field).join(", ")}`,
        "Nothing was changed. Edit it again.",
      );
    const config = await this.call(appConfigApi.modify, { query, body });
    await this.report(`changed ${changes.map(({ field }) => field).join(", ")}`, config, { schema: () => AppConfig });
  }
}

const comment = (text: string): string =>
  text
    .split("\n")
    .map((line) => `# ${line}\n`)
    .join("");

const head = (path: string, problem: string | null): string =>
  `${problem === null ? "" : `${comment(`Not changed: ${problem}`)}#\n`}${comment(
    `${path === "" ? "The configuration" : path}. Save and exit to change it; exit without changes to change nothing.\n******** is a secret that stays unchanged.`,
  )}`;

const withoutHead = (text: string): string => text.replaceAll("\r\n", "\n").replace(/^(?:#.*\n)*/, "");

const reasonOf = (error: ApiCallError): string =>
  errorReport(error)
    .errors.map(({ name, reason }) => (name === "base" ? reason : `${name}: ${reason}`))
    .join("; ") || error.message;
