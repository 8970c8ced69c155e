import * as Flags from "@oclif/core/flags";
import { LabelPreview, labelEffectsApi } from "../../api/hosts/label-effects.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { fieldsOfFlags } from "../../cli/plain-flags.ts";
import { criteriaFlags, criteriaOf, memberFields, memberFlags } from "../../cli/topics/labels.ts";
import { plural } from "../../text/plural.ts";

export default class LabelsPreview extends ClientCommand {
  static override summary = "Count the hosts that a label would have. Nothing is changed.";
  static override description =
    "With --label, the hosts that this label would gain and lose. Which hosts a --query selects only their agents can answer: " +
    "then the number of hosts that will be asked is shown.";
  static override endpoints = [labelEffectsApi.preview];
  static override flags = {
    label: Flags.string({ summary: "Compare with the hosts of this label, by name or id.", helpValue: "LABEL" }),
    query: Flags.string({ summary: "Hosts for which this query returns at least one row.", helpValue: "SQL" }),
    platform: Flags.string({ summary: "Run --query only on these platforms: darwin, windows, linux, ubuntu ..." }),
    ...criteriaFlags,
    ...memberFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --where 'platform = darwin and seen < 7d'",
    "<%= config.bin %> <%= command.id %> --label Loaners --hosts mac-1.example.com,win-1.example.com",
  ];

  async run() {
    const { flags } = await this.parse(LabelsPreview);
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...fieldsOfFlags(flags, ["query", "platform"]),
      ...criteriaOf(flags),
      ...(await memberFields(flags, (text) => this.host(text))),
    };
    if (Object.keys(input).length === 0)
      throw usage("nothing to preview", "Give --where, --query, --vital, --hosts or --host-ids, or --input.");
    const label = flags.label === undefined ? {} : { label_id: (await this.label(flags.label)).id };
    const body = { ...input, ...label };
    if (flags["dry-run"]) this.trying("preview a label, which changes nothing", body);
    const reply = await this.call(labelEffectsApi.preview, { body });
    if (this.structured || this.common.fields !== undefined)
      return this.printOne(reply, { schema: () => LabelPreview });
    for (const line of linesOf(reply, flags.label !== undefined)) this.log(line);
  }
}

function linesOf({ hosts_count, gained, lost, asked_hosts_count, unknown_hosts }: LabelPreview, isEdit: boolean) {
  const lines =
    hosts_count === null
      ? [
          `Which hosts have it is known when their agents have answered the query: ${plural(asked_hosts_count ?? 0, "host")} will be asked.`,
        ]
      : [plural(hosts_count, "host")];
  if (isEdit && gained !== null && lost !== null)
    lines.push(`gained: ${sampleText(gained)}`, `lost: ${sampleText(lost)}`);
  if (unknown_hosts.count > 0) lines.push(`unknown: ${listed(unknown_hosts.count, unknown_hosts.names)}`);
  return lines;
}

const sampleText = ({ count, hosts }: NonNullable<LabelPreview["gained"]>): string =>
  count === 0
    ? "none"
    : listed(
        count,
        hosts.map(({ display_name }) => display_name),
      );

const listed = (count: number, names: readonly string[]): string =>
  `${count} (${names.join(", ")}${count > names.length ? ", ..." : ""})`;
