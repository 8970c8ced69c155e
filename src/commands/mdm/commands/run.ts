import * as Flags from "@oclif/core/flags";
import { type Command, commandsApi } from "../../../api/devices/commands.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { CliError, failed, usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, yesFlag } from "../../../cli/flags.ts";
import { asShown, selectionOfHosts } from "../../../cli/selection.ts";
import { askTyped, findTargets, shortNameOf, type Target, targetFlags } from "../../../cli/topics/hosts/targets.ts";
import { commandView } from "../../../cli/topics/mdm/command.ts";
import { timeoutOf, waitFlags, waitFor } from "../../../cli/wait.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

/** Names of commands after which a device has lost its data, or cannot be used. */
const GRAVE = /EraseDevice|RemoteWipe|"WIPE"|"RELINQUISH_OWNERSHIP"/;

export default class MdmCommandsRun extends ClientCommand {
  static override summary = "Send a command of device management to hosts of one platform.";
  static override destructive = true;
  static override description =
    "Hosts are named, or selected with --where. The file contains the command in the format of the platform: for " +
    "Apple devices a property list with Command.RequestType, for Windows devices SyncML, for Android devices JSON " +
    "with a type. For several hosts, or a command that erases them, you must type the name or the number of the " +
    "hosts, or give --confirm. With --wait, the exit code is 0 if all hosts have done it, 1 or 6 if it failed, and 7 " +
    "if hosts have not answered yet.";
  static override endpoints = [commandsApi.run];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    payload: Flags.string({ summary: "File with the command; - is stdin.", helpValue: "FILE" }),
    confirm: Flags.string({ summary: "Name of the host, or number of hosts, that get the command." }),
    ...yesFlag,
    ...waitFlags,
    ...targetFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --payload profile-list.plist --yes",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --payload profile-list.plist --wait --timeout 30m --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(MdmCommandsRun);
    const timeout = timeoutOf(flags);
    if (flags.payload === undefined) throw usage("--payload FILE is required");
    const content = await this.#read(flags.payload);
    const hosts = await findTargets(this, argv.map(String), flags);
    const target = shortNameOf(hosts);
    const host_uuids = hosts.map(({ uuid }) => uuid);
    if (flags["dry-run"]) this.trying(`send the command to ${target}`, { payload: flags.payload, host_uuids });
    await this.#ask(`Send the command ${printable(flags.payload)} to ${target}?`, hosts, content);
    const body = { command: content.toString("base64"), host_uuids };
    const sent = await asShown(await selectionOfHosts(hosts), (options) =>
      this.call(commandsApi.run, { body }, options),
    );
    const what = `${printable(sent.request_type)} was sent to ${target}: command ${sent.command_uuid}`;
    if (!flags.wait) return this.report(what, sent);
    this.note(what);
    await this.#follow(sent.command_uuid, hosts, timeout);
  }

  async #read(path: string): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await uploadSource(this.io, path, "--payload")).open()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async #ask(question: string, hosts: readonly Target[], content: Buffer): Promise<void> {
    if (hosts.length > 1 || this.common.confirm !== undefined || GRAVE.test(content.toString("latin1")))
      await askTyped(this, question, hosts);
    else await this.confirm(question);
  }

  /** Waits for the answers, and prints them. */
  async #follow(command_uuid: string, hosts: readonly Target[], timeout: string): Promise<void> {
    const progress = this.progress(`waiting for ${plural(hosts.length, "host")} ...`);
    let waiting = hosts.length;
    const done = async () => {
      const query = { command_uuid, command_status: "pending", per_page: 1 };
      waiting = (await this.call(commandsApi.list, { query })).count ?? 0;
      progress.update(`waiting for ${waiting} of ${plural(hosts.length, "host")} ...`);
      return waiting === 0;
    };
    const going = () => ({
      what: `${waiting} of ${plural(hosts.length, "host")} had not answered`,
      hint: `They get the command when they are online. \`svc mdm commands results ${command_uuid}\` shows the answers.`,
    });
    const ended = await waitFor(this.io, this.stop.signal, { timeout, done, going })
      .finally(progress.done)
      .catch((error: unknown) => error);
    if (ended !== undefined && this.stop.signal.aborted) throw ended;
    const query = { command_uuid, order_key: "updated_at" as const };
    const { rows } = await (await this.client()).all(commandsApi.list, { query }, "results");
    await this.printList(rows, commandView(this.relativeTimes, this.io.now()));
    if (ended !== undefined) throw ended;
    conclude(rows, hosts);
  }
}

/** A host that is not in the list has left device management, or its command was cancelled. */
function conclude(rows: readonly Command[], hosts: readonly Target[]): void {
  const ran = rows.filter(({ command_status }) => command_status === "ran").length;
  const [other] = rows.filter(({ command_status }) => command_status !== "ran");
  const reason = other === undefined ? "the command was cancelled" : `the device answered ${printable(other.status)}`;
  if (ran === hosts.length) return;
  if (ran > 0) throw new CliError("partial", `${hosts.length - ran} of ${plural(hosts.length, "host")} failed`);
  throw failed(hosts.length === 1 ? `${shortNameOf(hosts)}: ${reason}` : `failed on all hosts: ${reason}`);
}
