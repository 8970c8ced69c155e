import * as Flags from "@oclif/core/flags";
import {
  densities,
  pageSizes,
  type SettingsChange,
  themes,
  timeForms,
  timeZones,
} from "../../api/accounts/user-settings.ts";
import { usersApi } from "../../api/accounts/users.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag, listOf } from "../../cli/flags.ts";

const DEFAULT = "default";

/** Each may also be reset to its default. */
const choice = (options: readonly string[], summary: string) =>
  Flags.option({ options: [...options, DEFAULT] })({ summary });

export default class UsersSettings extends ClientCommand {
  static override summary = "Show what a user has set for the console, or change your own settings.";
  static override description =
    "Without flags, prints the settings. Those of others are shown to global admins only, and nobody else can change them. What no flag names stays as it is.";
  static override endpoints = [usersApi.me, usersApi.get, usersApi.modify];
  static override args = { user: { ...args.user, required: false } };
  static override flags = {
    columns: Flags.string({
      summary: "Columns of a list; can be given several times. No columns: the default ones.",
      helpValue: "LIST=COLUMN,COLUMN",
      multiple: true,
    }),
    density: choice(densities, "Height of rows."),
    rows: choice(pageSizes.map(String), "Rows on a page of a list."),
    theme: choice(themes, "Colours."),
    zone: choice(timeZones, "Time zone of times."),
    times: choice(timeForms, "Form of times."),
    keys: Flags.boolean({ summary: "Whether single letters are shortcuts.", allowNo: true }),
    pinned: Flags.string({
      summary: "Pinned pages; can be given several times, and empty for none.",
      helpValue: "PATH",
      multiple: true,
    }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --theme dark --columns hosts=hostname,os_version --columns policies=",
  ];

  async run() {
    const { args: given, flags } = await this.parse(UsersSettings);
    const { user: me } = await this.call(usersApi.me);
    const { id, email } = given.user === undefined ? me : await this.user(given.user);
    const change = {
      ...(await readBody(this.io, flags.input)),
      ...withoutAbsent({
        columns: columnsOf(flags.columns),
        density: choiceOf(flags.density),
        rows: sizeOf(flags.rows),
        theme: choiceOf(flags.theme),
        zone: choiceOf(flags.zone),
        times: choiceOf(flags.times),
        keys: flags.keys,
        pinned: flags.pinned === undefined ? undefined : listOf(flags.pinned),
      }),
    };
    if (Object.keys(change).length > 0) {
      if (flags["dry-run"]) this.trying(`change the settings of ${email}`, { id, email }, changesOf({}, change));
      const settings = { console: change } as SettingsChange;
      await this.call(usersApi.modify, { params: { id }, body: { settings } });
    }
    const { settings } = await this.call(usersApi.get, { params: { id }, query: { include_ui_settings: true } });
    await this.printOne({ user: email, ...settings?.console }, { columns: [{ key: "user" }, ...shown] });
  }
}

const shown = ["columns", "density", "rows", "theme", "zone", "times", "keys", "pinned"].map((key) => ({ key }));

const choiceOf = (text: string | undefined): string | null | undefined => (text === DEFAULT ? null : text);

function sizeOf(text: string | undefined): number | null | undefined {
  const choice = choiceOf(text);
  return typeof choice === "string" ? Number(choice) : choice;
}

function columnsOf(texts: readonly string[] | undefined): Record<string, string[] | null> | undefined {
  if (texts === undefined) return undefined;
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at <= 0) throw usage(`--columns: ${text} is not LIST=COLUMN,COLUMN`);
      const columns = listOf([text.slice(at + 1)]);
      return [text.slice(0, at), columns.length === 0 ? null : columns];
    }),
  );
}

const withoutAbsent = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
