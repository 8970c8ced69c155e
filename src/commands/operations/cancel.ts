import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import type { ReplyOf } from "../../api/endpoint.ts";
import { type HostOperation, OPERATIONS_MAX, operationsApi } from "../../api/hosts/operations.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, usage } from "../../cli/errors.ts";
import { dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { queryOf } from "../../cli/query-flags.ts";
import { asShown, selectionOfHosts } from "../../cli/selection.ts";
import { operationFlags } from "../../cli/topics/operations.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class OperationsCancel extends ClientCommand {
  static override summary = "Cancel operations that hosts have not begun.";
  static override destructive = true;
  static override description =
    "Operations are given by id, or selected by filters. More than 1000 are cancelled in several requests. Asks y or N for one. For several, you must type their number or " +
    "give --confirm NUMBER. Nothing is cancelled if the selection has changed in the meantime (exit code 5). Those that cannot be " +
    "cancelled are reported with the reason (exit code 1).";
  static override endpoints = [operationsApi.cancel];
  static override strict = false;
  static override args = { operations: Args.string({ description: "ids, as `svc operations list` shows them" }) };
  static override flags = {
    ...operationFlags,
    ...teamFlag,
    confirm: Flags.string({ summary: "Number of operations that will be cancelled." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --yes",
    "<%= config.bin %> <%= command.id %> --kind run_script --team Workstations --confirm 1",
  ];

  async run() {
    const { argv, flags } = await this.parse(OperationsCancel);
    const filters = queryOf(operationsApi.list, flags, await this.teamFilter(flags.team));
    const hasFilters = Object.keys(filters).length > 0;
    if (argv.length > 0 === hasFilters)
      throw usage("which operations?", "Give either ids of operations or filters, such as --kind or --team.");
    const selected = hasFilters ? await this.#matching(filters) : await this.#named(argv.map(String));
    const count = selected.length;
    if (count === 0) {
      await this.report("no operations match these filters", { cancelled: [], not_cancelled: [] });
      return;
    }
    const what = count === 1 ? nameOf(selected[0]!) : plural(count, "operation");
    if (flags["dry-run"]) this.trying(`cancel ${what}`, selected);
    if (count === 1 && flags.confirm === undefined) await this.confirm(`Cancel ${what}?`);
    else await this.confirmTyped(`Cancel ${what}?`, String(count));

    const { cancelled, not_cancelled } = await this.#cancel(selected);
    await this.report(`cancelled ${cancelled.length} of ${plural(count, "operation")}`, { cancelled, not_cancelled });
    const [first] = not_cancelled;
    if (first)
      throw new CliError(
        "failed",
        `${plural(not_cancelled.length, "operation")} could not be cancelled`,
        `${first.id}: ${printable(first.reason)}`,
      );
  }

  async #cancel(selected: readonly HostOperation[]): Promise<CancelReply> {
    const replies: CancelReply[] = [];
    for (let at = 0; at < selected.length; at += OPERATIONS_MAX) {
      const part = selected.slice(at, at + OPERATIONS_MAX);
      const body = { ids: part.map(({ id }) => id) };
      const send = async (options: { headers: Record<string, string> }) =>
        replies.push(await this.call(operationsApi.cancel, { body }, options));
      await asShown(await selectionOfHosts(part), send);
    }
    return {
      cancelled: replies.flatMap(({ cancelled }) => cancelled),
      not_cancelled: replies.flatMap(({ not_cancelled }) => not_cancelled),
    };
  }

  #matching(filters: Record<string, unknown>): Promise<HostOperation[]> {
    this.common.all = true;
    const query = { state: "queued,sent", ...filters };
    return this.rows(operationsApi.list, { query }, "operations");
  }

  async #named(ids: readonly string[]): Promise<HostOperation[]> {
    const operations = new Map<number, HostOperation>();
    for (const id of ids) {
      const { operation } = await this.call(operationsApi.get, { params: { id } });
      operations.set(operation.id, operation);
    }
    return [...operations.values()];
  }
}

type CancelReply = ReplyOf<typeof operationsApi.cancel>;

const nameOf = ({ kind, detail, host }: HostOperation): string =>
  `${printable(detail || kind)} on ${printable(host.display_name)}`;
