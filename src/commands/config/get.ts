import { AppConfig, appConfigApi } from "../../api/settings/app-config.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args } from "../../cli/flags.ts";
import { fieldPaths, isField, valueAt } from "../../cli/output/fields.ts";
import { cell } from "../../cli/output/text.ts";
import { operatorSetting } from "../../cli/topics/config/operator-settings.ts";
import { nearest } from "../../text/nearest.ts";
import { isRecord } from "../../text/record.ts";

export default class ConfigGet extends ClientCommand {
  static override summary = "Show the configuration, or the part at PATH.";
  static override endpoints = [appConfigApi.get];
  static override args = { path: args.optional("part of it, e.g. org_info.org_name") };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> org_info.org_name",
  ];

  async run() {
    const { args } = await this.parse(ConfigGet);
    const path = args.path;
    if (path !== undefined && !isField(AppConfig, path)) {
      const operator = await operatorSetting(path, this.config);
      if (operator) throw operator;
      const near = nearest(path, fieldPaths(AppConfig));
      throw usage(
        `there is no setting ${path}`,
        near ? `Did you mean ${near}?` : "`svc config get -o yaml` shows all.",
      );
    }
    const config = await this.call(appConfigApi.get);
    if (path === undefined) return this.printOne(config, { schema: () => AppConfig });
    const value = valueAt(config, path);
    if (Array.isArray(value) && value.every(isEntry)) {
      const columns = [...new Set(value.flatMap((entry) => Object.keys(entry)))];
      return this.printList(value, { columns });
    }
    if (isRecord(value)) return this.printOne(value);
    if (this.structured && this.format !== "csv") return this.printOne(value);
    this.log(cell(value));
  }
}

const isEntry = (value: unknown): value is object => typeof value === "object" && value !== null;
