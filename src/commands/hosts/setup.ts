import { HostSetup, setupResultsApi } from "../../api/delivery/setup-results.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { args } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { shownItems } from "../../cli/topics/mdm/setup-items.ts";
import { timeoutOf, waitFlags, waitFor } from "../../cli/wait.ts";
import { printable } from "../../text/printable.ts";

export default class HostsSetup extends ClientCommand {
  static override summary = "Show how far the setup of a host is: its software, and its script.";
  static override description =
    "The setup begins when the host's managed agent enrolls for the first time. With --wait, the exit code is 0 if " +
    "everything of it has succeeded, 1 if something has failed, and 7 if it has not ended in time.";
  static override endpoints = [setupResultsApi.ofHost];
  static override args = { host: args.host };
  static override flags = waitFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --wait --timeout 30m",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsSetup);
    const timeout = timeoutOf(flags);
    const { id, display_name } = await this.host(args.host);
    const name = printable(display_name);
    let setup = await this.#readSetup(id);
    let waited: unknown;
    if (flags.wait) {
      const progress = this.progress(`waiting for the setup of ${name} ...`);
      const done = async () => {
        setup = await this.#readSetup(id);
        const items = shownItems(setup.software, setup.script);
        const ended = items.filter(({ status }) => status === "success" || status === "failure").length;
        progress.update(`${ended} of ${items.length} items of the setup have ended ...`);
        return setup.status !== "pending" && setup.status !== "running";
      };
      const going = () => ({
        what: `the setup of ${name} has not ended`,
        hint: `\`svc hosts setup ${id}\` shows how far it is, \`svc hosts upcoming ${id}\` what the host does next.`,
      });
      waited = await waitFor(this.io, this.stop.signal, { timeout, done, going })
        .finally(progress.done)
        .catch((error: unknown) => error);
    }
    const at = (key: string, header: string) => timeColumn(key, header, this.relativeTimes, this.io.now());
    await this.printOne(setup, {
      schema: () => HostSetup,
      columns: [
        { key: "status" },
        at("started_at", "started"),
        at("ended_at", "ended"),
        ...shownItems(setup.software, setup.script).map(({ item, status, error }) => ({
          key: "status",
          header: printable(item),
          text: () => (error === null ? status : `${status}: ${printable(error)}`),
        })),
      ],
    });
    if (waited) throw waited;
    if (flags.wait && setup.status === "failure") throw failed(`${name}: something of the setup has failed`);
  }

  async #readSetup(id: number): Promise<HostSetup> {
    return (await this.call(setupResultsApi.ofHost, { params: { id } })).setup_experience;
  }
}
