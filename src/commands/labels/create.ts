import * as Flags from "@oclif/core/flags";
import { labelFields } from "../../api/hosts/label.ts";
import { LabelItem, labelsApi } from "../../api/hosts/labels.ts";
import { fieldNames } from "../../api/plain-fields.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { fieldsOfFlags, plainFlags } from "../../cli/plain-flags.ts";
import { criteriaFlags, criteriaOf, memberFields, memberFlags, warnUnknown } from "../../cli/topics/labels.ts";
import { plural } from "../../text/plural.ts";

export default class LabelsCreate extends ClientCommand {
  static override summary = "Create a label.";
  static override description =
    "Members are the hosts for which --query returns at least one row, those that --where selects (kept up to date by the server), or " +
    "those named by --hosts or --host-ids. Without any of these flags the label is empty, and hosts are added manually.";
  static override endpoints = [labelsApi.create];
  static override flags = {
    name: Flags.string({ summary: "Name." }),
    ...plainFlags(labelFields),
    query: Flags.string({ summary: "Hosts for which this query returns at least one row.", helpValue: "SQL" }),
    platform: Flags.string({ summary: "Run --query only on these platforms: darwin, windows, linux, ubuntu ..." }),
    ...criteriaFlags,
    ...memberFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name Portables --query 'SELECT 1 FROM battery' --platform darwin",
    "<%= config.bin %> <%= command.id %> --name 'Linux seen lately' --where 'platform = ubuntu and seen < 7d'",
    "<%= config.bin %> <%= command.id %> --name 'On loan' --hosts mac-1.example.com,win-1.example.com",
  ];

  async run() {
    const { flags } = await this.parse(LabelsCreate);
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...fieldsOfFlags(flags, ["name", ...fieldNames(labelFields), "query", "platform"]),
      ...criteriaOf(flags),
      ...(await memberFields(flags, (text) => this.host(text))),
    };
    const name = typeof input.name === "string" ? input.name : await this.askText("Name", "--name");
    const body = { ...input, name };
    if (flags["dry-run"]) {
      this.trying(`create label ${name}`, null, changesOf({}, body));
    }
    const { label } = await this.call(labelsApi.create, { body });
    await this.report(`created label ${label.name} (${label.id}), ${plural(label.count, "host")}`, label, {
      schema: () => LabelItem,
    });
    warnUnknown(input, label.count, (text) => this.warn(text));
  }
}
